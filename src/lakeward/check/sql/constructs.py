"""Which constructs a statement has: those of the SQL front end, and those known by their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from lakeward.check.sql.tokens import Statement
from lakeward.check.values import HOLE
from lakeward.sql import MISSING_FUNCTIONS, PASSTHROUGH_STATEMENTS, PassthroughStatement, Token
from lakeward.sql import constructs_in as known_to_the_front_end

_CALL = re.compile(r"\b([a-z]\w+)\s*\(", re.IGNORECASE)


def constructs_in(statement: Statement, words: list[str]) -> Iterator[tuple[int, str]]:
    """Yield position and name of each construct in a statement, given with its words in upper case."""
    # A name will be where a hole is. Tokenizing the text once more would take half of the time of a check.
    first = statement.tokens[0].start
    tokens = tuple(
        Token(each.kind, each.text.replace(HOLE, "x"), each.start - first, each.end - first)
        for each in statement.tokens
    )
    for each in known_to_the_front_end(statement.text.replace(HOLE, "x"), tokens):
        yield 0, each.name
    for at, word in enumerate(words[:-1]):
        if words[at + 1] == "(" and word in _missing() and (at == 0 or words[at - 1] != "."):
            yield at, f"{word.lower()}()"
    # The tokenizer takes some pairs of words, such as GROUP BY, for one.
    flat = [(word, at) for at, token in enumerate(words) for word in (token.split() or ("",))]
    for start, (word, at) in enumerate(flat):
        for pattern, phrase in _index_by_word().get(word, ()):
            found = tuple(each for each, _ in flat[start : start + len(pattern)])
            if found == pattern and (not phrase.first or start == 0):
                yield at, phrase.name
                break


def missing_functions_in(expression: str) -> Iterator[str]:
    """Yield the functions of the platform that Spark lacks in the text of an expression.

    >>> list(missing_functions_in("upper(bit_reverse(a))"))
    ['bit_reverse()']
    """
    for match in _CALL.finditer(expression):
        if match[1].upper() in _missing():
            yield f"{match[1].lower()}()"


@cache
def _missing() -> frozenset[str]:
    served = {words[0] for each in PASSTHROUGH_STATEMENTS for words in each.words}
    return frozenset(name.upper() for group in MISSING_FUNCTIONS for name in group.names) - served


@cache
def _index_by_word() -> dict[str, list[tuple[tuple[str, ...], PassthroughStatement]]]:
    found: dict[str, list[tuple[tuple[str, ...], PassthroughStatement]]] = {}
    for phrase in PASSTHROUGH_STATEMENTS:
        for words in phrase.words:
            found.setdefault(words[0], []).append((words, phrase))
    return found
