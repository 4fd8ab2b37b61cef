"""Statements that only pipelines run; elsewhere they fail, here with the command that runs them."""

from __future__ import annotations

from lakeward.sql.construct import BEGINNING, Construct, Refusal, in_area
from lakeward.sql.token_cursor import TokenCursor, Unmatched

_PRIVATE = ("PRIVATE", "TEMPORARY", "TEMP")


def _refusal(statement: str) -> Refusal:
    return Refusal(
        "GRAPH_ELEMENT_DEFINED_OUTSIDE_OF_DECLARATIVE_PIPELINE",
        f"{statement} defines a part of a pipeline, and no pipeline runs here. Run the file as one: "
        "`lakeward pipeline FILE`, or `lakeward run KEY` for a pipeline of the bundle.",
        "0A000",
    )


def _create_live(cursor: TokenCursor) -> Refusal:
    """Parse CREATE [OR REFRESH] [TEMPORARY] [STREAMING] LIVE TABLE | VIEW."""
    begin = cursor.at
    cursor.need("CREATE")
    cursor.words("OR", "REFRESH")
    cursor.words("TEMPORARY")
    if not cursor.words("STREAMING"):
        cursor.words("INCREMENTAL")
    cursor.need("LIVE")
    cursor.one_of("TABLE", "VIEW")
    statement = cursor.text(begin)
    cursor.finish()
    return _refusal(statement)


def _create_private(cursor: TokenCursor) -> Refusal:
    """Parse CREATE [OR REFRESH] PRIVATE | TEMPORARY STREAMING TABLE | MATERIALIZED VIEW."""
    begin = cursor.at
    cursor.need("CREATE")
    cursor.words("OR", "REFRESH")
    cursor.one_of(*_PRIVATE)
    if not cursor.words("STREAMING", "TABLE"):
        cursor.need("MATERIALIZED", "VIEW")
    statement = cursor.text(begin)
    cursor.finish()
    return _refusal(statement)


def _flow(cursor: TokenCursor) -> Refusal:
    """Parse CREATE FLOW f AS …, and APPLY CHANGES INTO t …."""
    begin = cursor.at
    if cursor.words("CREATE", "FLOW"):
        cursor.name()
    elif not cursor.words("APPLY", "CHANGES", "INTO"):
        raise Unmatched
    statement = cursor.text(begin)
    cursor.finish()
    return _refusal(statement)


_NOTE = "in sources of pipelines; elsewhere it is an error"

CONSTRUCTS = in_area(
    "Pipelines",
    Construct(
        name="CREATE LIVE TABLE, LIVE VIEW",
        example="CREATE OR REFRESH STREAMING LIVE TABLE s AS SELECT * FROM STREAM t",
        note=_NOTE,
        statement=_create_live,
        test="tests/sql/test_pipeline_statements.py",
    ),
    Construct(
        name="CREATE PRIVATE STREAMING TABLE, MATERIALIZED VIEW",
        example="CREATE PRIVATE MATERIALIZED VIEW m AS SELECT 1 AS id",
        note=_NOTE,
        statement=_create_private,
        test="tests/sql/test_pipeline_statements.py",
    ),
    Construct(
        name="CREATE FLOW, APPLY CHANGES",
        example="CREATE FLOW f AS AUTO CDC INTO t FROM STREAM u KEYS (id) SEQUENCE BY id",
        note=_NOTE,
        starts=("CREATE", "APPLY"),
        statement=_flow,
        trigger=BEGINNING + r"create\s+flow\b",
        test="tests/sql/test_pipeline_statements.py",
    ),
)
