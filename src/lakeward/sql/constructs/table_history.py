"""DESCRIBE HISTORY in parentheses, as a relation of a query.

Databricks takes no other statement there: `SELECT * FROM (DESCRIBE DETAIL t)` is a syntax error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.quoting import quote_string
from lakeward.sql.construct import Construct, Edit, in_area, register_function
from lakeward.sql.token_cursor import Token, TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _history(spark: SparkSession, *, positional: list[str], **_: Any) -> DataFrame:
    (statement,) = positional
    # A projection: the plan of the statement itself would be executed with each use.
    return spark.sql(statement).select("*")


register_function("history", _history)


def _relations(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of each DESCRIBE HISTORY that is in parentheses."""
    cursor = TokenCursor(tokens)
    for at, token in enumerate(tokens):
        cursor.at = at + 1
        if token.text != "(" or not (cursor.words("DESCRIBE", "HISTORY") or cursor.words("DESC", "HISTORY")):
            continue
        cursor.skip_to()
        if cursor.next is not None:
            yield cursor.read(at + 1)


def _history_relations(tokens: Sequence[Token]) -> list[Edit]:
    edits = []
    for statement in _relations(tokens):
        text = " ".join(token.text for token in statement)
        call = f"SELECT * FROM lakeward_history({quote_string(text)})"  # noqa: S608
        edits.append(Edit(statement[0].start, statement[-1].end, call))
    return edits


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="DESCRIBE HISTORY in queries",
        example="SELECT max(version) FROM (DESCRIBE HISTORY t)",
        note="also with LIMIT, in common table expressions, views and joins",
        edits=_history_relations,
        test="tests/sql/test_table_history.py",
    ),
)
