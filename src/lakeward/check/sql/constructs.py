"""Which constructs a statement has: those of the SQL front end, and those known by their words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from lakeward.check.code.values import HOLE
from lakeward.sql import PASSTHROUGH_STATEMENTS, PassthroughStatement
from lakeward.sql import constructs_in as known_to_the_front_end

__all__ = ["constructs_in"]


def constructs_in(text: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """Position and name of each construct in a statement, given as text and as words in upper case."""
    # A hole stands where a name will be.
    for each in known_to_the_front_end(text.replace(HOLE, "x")):
        yield 0, each.name
    # The tokenizer takes some pairs of words, such as GROUP BY, for one.
    flat = [(word, at) for at, token in enumerate(words) for word in (token.split() or ("",))]
    for start, (word, at) in enumerate(flat):
        for pattern, phrase in _by_word().get(word, ()):
            found = tuple(each for each, _ in flat[start : start + len(pattern)])
            if found == pattern and (not phrase.first or start == 0):
                yield at, phrase.name
                break


@cache
def _by_word() -> dict[str, list[tuple[tuple[str, ...], PassthroughStatement]]]:
    found: dict[str, list[tuple[tuple[str, ...], PassthroughStatement]]] = {}
    for phrase in PASSTHROUGH_STATEMENTS:
        for words in phrase.words:
            found.setdefault(words[0], []).append((words, phrase))
    return found
