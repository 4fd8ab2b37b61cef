"""MERGE from an earlier version of a table, which Spark takes as a subquery only."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.sql.construct import Construct, Edit
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched

_TIMES = ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME")
_UNITS = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")


def _versions(tokens: Sequence[Token]) -> list[Edit]:
    """Edit the source of each MERGE of a statement or a script."""
    merges = [
        at for at in range(len(tokens) - 1) if tokens[at].word == "MERGE" and tokens[at + 1].word == "INTO"
    ]
    return [edit for at in merges for edit in _version(tokens[at:])]


def _version(tokens: Sequence[Token]) -> list[Edit]:
    """Write the source `t VERSION AS OF 3 s` as `(SELECT * FROM t VERSION AS OF 3) s`."""
    using = _outside_parentheses(tokens, "USING", 0)
    on = _outside_parentheses(tokens, "ON", using or 0)
    if using is None or on is None:
        return []
    cursor = TokenCursor(tokens[:on])
    cursor.at = using + 1
    try:
        name = cursor.name()
        cursor.words("FOR")
        cursor.one_of(*_TIMES)
        cursor.need("AS", "OF")
    except Unmatched:
        return []
    value = tokens[cursor.at : on]
    begin = tokens[using + 1].start
    select = Edit(begin, begin, "(SELECT * FROM ")
    if len(value) > 2 and value[-2].word == "AS":
        return [select, Edit(value[-3].end, value[-3].end, ")")]
    if len(value) > 1 and value[-1].is_name and _ends_operand(value[-2]) and not _is_unit(value):
        return [select, Edit(value[-2].end, value[-2].end, ")")]
    alias = name[-1].replace("`", "``")
    return [select, Edit(value[-1].end, value[-1].end, f") AS `{alias}`")] if value else []


def _ends_operand(token: Token) -> bool:
    return token.is_quoted or token.is_name or token.text[-1].isalnum() or token.text == ")"


def _is_unit(value: Sequence[Token]) -> bool:
    """Whether the last word is the unit of an interval: `… - INTERVAL 1 DAY`."""
    interval = any(token.word == "INTERVAL" for token in value[-4:-2])
    return interval and value[-1].word.removesuffix("S") in _UNITS


def _outside_parentheses(tokens: Sequence[Token], word: str, begin: int) -> int | None:
    depth = 0
    for at in range(begin, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[at].text, 0)
        if tokens[at].text == ";":
            return None
        if depth == 0 and tokens[at].word == word:
            return at
    return None


CONSTRUCTS = (
    Construct(
        name="MERGE USING … VERSION AS OF, TIMESTAMP AS OF",
        area="Tables",
        verdict="rewritten",
        example="MERGE INTO t USING s VERSION AS OF 1 ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
        note="a subquery",
        edits=_versions,
        test="tests/sql/test_merge_source.py",
    ),
)
