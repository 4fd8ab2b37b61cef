"""Statements of Delta's own parser: Spark's grammar has none of them, or another meaning.

Delta's parser takes whole statements with plain names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from lakeward.quoting import quote_identifier
from lakeward.sql.construct import BEGINNING, Construct, Edit, in_area
from lakeward.sql.token_cursor import Token

# What the statements begin with.
_BEGINNINGS = (
    *(("OPTIMIZE",), ("VACUUM",), ("REORG",), ("RESTORE",), ("GENERATE",), ("CONVERT", "TO", "DELTA")),
    *((verb, noun) for verb in ("DESCRIBE", "DESC") for noun in ("HISTORY", "DETAIL")),
)
# Clauses of ALTER TABLE.
_ALTER = (
    ("ADD", "CONSTRAINT"),
    ("DROP", "CONSTRAINT"),
    ("DROP", "FEATURE"),
    ("CLUSTER", "BY"),
    ("SYNC", "IDENTITY"),
)

# Words that Delta's grammar does not take as names; Spark's and that of the platform do.
_RESERVED = frozenset(
    [
        "ADD",
        "ALTER",
        "COMMENT",
        "CONSTRAINT",
        "CREATE",
        "DROP",
        "FALSE",
        "HISTORY",
        "IF",
        "LOCATION",
        "NOT",
        "NULL",
        "OR",
        "REPLACE",
        "SYSTEM_TIME",
        "SYSTEM_VERSION",
        "TBLPROPERTIES",
        "TIMESTAMP",
        "TRUE",
        "VERSION",
        "WHERE",
    ]
)
# What a name of one part follows.
_BEFORE_NAMES = (
    *_BEGINNINGS,
    *((verb, "TABLE") for verb in ("REORG", "RESTORE", "ALTER")),
    *((verb, "COLUMN") for verb in ("ALTER", "CHANGE")),
    *((verb, "CONSTRAINT") for verb in ("ADD", "DROP")),
    *((verb, "TABLE") for verb in ("CREATE", "REPLACE")),
    *(("SHALLOW", "CLONE"), ("NOT", "EXISTS"), ("IF", "EXISTS")),
)

# Spark describes a column of a table HISTORY, Delta takes ZORDER BY for a part of the condition, and Spark's
# own clustering and constraints are not those of Delta.
_OTHER_MEANING = (
    rf"(?:desc(?:ribe)?\s+(?:history|detail)\s+(?:[\w`]+\s*\.\s*)*(?:{'|'.join(sorted(_RESERVED)).lower()})\b"
    r"|optimize\b[\s\S]*\bwhere\b[\s\S]*\bzorder\b"
    r"|alter\s+table\b[\s\S]*\b(?:cluster\s+by|(?:add|drop)\s+constraint)\b)"
)


DELTA_VERBS = frozenset({*(begin[0] for begin in _BEGINNINGS), "ALTER", "CREATE", "REPLACE"})
"""The first words of these statements."""


def is_of_delta(tokens: Sequence[Token]) -> bool:
    """Return whether Delta's parser takes the statement."""
    words = [token.word for token in tokens]
    if any(tuple(words[: len(begin)]) == begin for begin in _BEGINNINGS):
        return True
    if words[:2] == ["ALTER", "TABLE"]:
        return any(pair in _ALTER for pair in pairwise(words))
    return words[:1] in (["CREATE"], ["REPLACE"]) and ("SHALLOW", "CLONE") in pairwise(words)


def _quote_reserved(tokens: Sequence[Token]) -> list[Edit]:
    """Quote the names in a statement of Delta that its parser takes for keywords."""
    if not is_of_delta(tokens):
        return []
    listed = set(_listed_columns(tokens))
    return [
        Edit(token.start, token.end, quote_identifier(token.text))
        for at, token in enumerate(tokens)
        if token.word in _RESERVED and (at in listed or _is_in_name(tokens, at))
    ]


def _listed_columns(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the positions in the columns of ZORDER BY and CLUSTER BY."""
    words = [token.word for token in tokens]
    for at, pair in enumerate(pairwise(words)):
        if pair in (("ZORDER", "BY"), ("CLUSTER", "BY")):
            yield from takewhile(lambda position: words[position] != ")", range(at + 2, len(words)))


def _is_in_name(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the word at `at` is a part of a name: next to a dot, or where a statement has one."""
    if any(token.text == "." for token in (*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2])):
        return True
    following = [token.word for token in tokens[at + 1 : at + 3]]
    if tokens[at].word == "IF" and (following == ["NOT", "EXISTS"] or following[:1] == ["EXISTS"]):
        return False
    words = tuple(token.word for token in tokens[max(at - 3, 0) : at])
    return any(words[-len(before) :] == before for before in _BEFORE_NAMES)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="names that are keywords of Delta",
        verdict="rewritten",
        example="OPTIMIZE t ZORDER BY (timestamp)",
        note="`timestamp`, `version`, `location` … get quotes in OPTIMIZE, VACUUM, REORG and ALTER TABLE",
        edits=_quote_reserved,
        trigger=BEGINNING + _OTHER_MEANING,
        test="tests/sql/test_delta_keywords.py",
    ),
    Construct(
        name="IDENTIFIER(…) in statements of Delta",
        example="OPTIMIZE IDENTIFIER('t')",
        note="the name is computed first: OPTIMIZE, VACUUM, REORG, RESTORE, DESCRIBE HISTORY and DETAIL, "
        "constraints and clustering by ALTER TABLE",
        trigger=BEGINNING + r"(?:(?:describe|desc)\s+(?:history|detail)|alter\s+table)\s+identifier\b",
        test="tests/sql/test_identifier_clause.py",
    ),
)
