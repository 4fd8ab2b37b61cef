"""Which constructs a statement has, found by their words."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.check.knowledge.sql import CONSTRUCTS, Construct

__all__ = ["constructs_in"]

_BY_WORD: dict[str, list[tuple[tuple[str, ...], Construct]]] = {}
for _construct in CONSTRUCTS:
    for _words in _construct.words:
        _BY_WORD.setdefault(_words[0], []).append((_words, _construct))


def constructs_in(words: list[str]) -> Iterator[tuple[int, str]]:
    """Position and name of each construct in a statement, whose words are given in upper case."""
    # The tokenizer takes some pairs of words, such as GROUP BY, for one.
    flat = [(word, at) for at, token in enumerate(words) for word in (token.split() or ("",))]
    for start, (word, at) in enumerate(flat):
        for pattern, construct in _BY_WORD.get(word, ()):
            found = tuple(each for each, _ in flat[start : start + len(pattern)])
            if found == pattern and (not construct.first or start == 0):
                yield at, construct.name
                break
