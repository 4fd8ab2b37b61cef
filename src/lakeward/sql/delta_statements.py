"""Statements of Delta's own parser: Spark's grammar has none of them, or another meaning.

Delta's parser takes whole statements with plain names.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lakeward.sql.construct import BEGINNING, Construct
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


CONSTRUCTS = (
    Construct(
        name="IDENTIFIER(…) in statements of Delta",
        area="Tables",
        verdict="emulated",
        example="OPTIMIZE IDENTIFIER('t')",
        note="the name is computed first: OPTIMIZE, VACUUM, REORG, RESTORE, DESCRIBE HISTORY and DETAIL, "
        "constraints and clustering by ALTER TABLE",
        trigger=BEGINNING + r"(?:(?:describe|desc)\s+(?:history|detail)|alter\s+table)\s+identifier\b",
        test="tests/sql/test_identifier_clause.py",
    ),
)
