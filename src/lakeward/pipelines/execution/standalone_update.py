"""The update of a standalone table: its definition as a pipeline of one dataset, in a session of its own.

Temporary views and settings of the caller's session do not belong to a definition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from lakeward.atomic_files import atomic_write
from lakeward.errors import SqlError
from lakeward.pipelines.execution.pipeline_execution import run_update
from lakeward.pipelines.execution.update_context import PipelineUpdateContext, UpdateOptions
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.pipelines.graph.results import Update
from lakeward.pipelines.graph.session_scope import resolve_reads_of
from lakeward.pipelines.sql.grammar import SqlSyntaxError, parse_statement
from lakeward.pipelines.sql.statements import DatasetStatement
from lakeward.quoting import quote_name
from lakeward.session import temporary_conf
from lakeward.spark_internals import activated
from lakeward.sql import Refresh, StandaloneTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings

_SOURCE = "definition.sql"
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]\s*(.*)", re.DOTALL)


def update_table(
    spark: SparkSession,
    settings: Settings,
    table: StandaloneTable,
    *,
    previous: StandaloneTable | None,
    full: bool,
) -> None:
    """Run one update of the table, and store its definition with the result.

    If it fails, an earlier definition is restored, and a table that was to be created is removed.
    """
    table.save(settings)
    update_id = ""
    try:
        update = _run(spark, settings, table, full=full)
        update_id = update.update_id
        error = update.error or next((each.error for each in update.datasets if each.error), None)
        if update.state == "CANCELED":
            raise KeyboardInterrupt
        if update.state != "COMPLETED":
            raise _sql_error(table, error or "The update failed.")
    except BaseException as failure:
        if previous is None:
            drop_table(spark, table.name, table.pipeline)
            table.remove(settings)
        else:
            state = "CANCELED" if isinstance(failure, KeyboardInterrupt) else "FAILED"
            previous.after_refresh(Refresh(state, _now(), str(failure) or None, update_id)).save(settings)
        raise
    table.after_refresh(Refresh(update.state, _now(), update_id=update_id)).save(settings)


def _run(spark: SparkSession, settings: Settings, table: StandaloneTable, *, full: bool) -> Update:
    folder = table.folder(settings)
    source = folder / _SOURCE
    schedule = parse_definition(table.text).schedule
    # A schedule would be reported as a clause without effect; positions in errors stay.
    begin, end = schedule or (0, 0)
    blanks = re.sub(r"[^\n]", " ", table.text[begin:end])
    atomic_write(source, f"{table.text[:begin]}{blanks}{table.text[end:]}\n")
    fresh = spark.newSession()
    options = UpdateOptions(
        name=table.pipeline, catalog=table.catalog, schema=table.schema, full_refresh_all=full
    )
    with activated(fresh), resolve_reads_of(fresh):
        return run_update(
            PipelineUpdateContext(
                spark=fresh,
                sources=(source,),
                default_schema=DefaultSchema(table.catalog, table.schema),
                root=folder,
                storage=folder,
                user=settings.user,
                conf={},
                options=options,
            )
        )


def _sql_error(table: StandaloneTable, text: str) -> SqlError:
    """Return the error of an update as the error of the statement; positions are those in the statement."""
    found = _CONDITION.match(text)
    condition, message = (found[1], found[2]) if found else ("INTERNAL_ERROR", text)
    if condition == "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE":
        return SqlError(
            "STREAMING_TABLE_QUERY_INVALID",
            f"The streaming table {quote_name(table.name)} needs a streaming query.",
            sql_state="42000",
            next_step="Write FROM STREAM(table), or create a materialized view.",
        )
    message = re.sub(rf"\S*{re.escape(table.pipeline)}/{re.escape(_SOURCE)}:(\d+)", r"line \1", message)
    return SqlError(condition, message)


def parse_definition(text: str) -> DatasetStatement:
    """Return the statement that declares the table. Raises SqlError(PARSE_SYNTAX_ERROR)."""
    try:
        statement = parse_statement(text)
    except SqlSyntaxError as error:
        line, column = text.count("\n", 0, error.offset) + 1, error.offset - text.rfind("\n", 0, error.offset)
        raise SqlError(
            "PARSE_SYNTAX_ERROR",
            f"Syntax error at or near '{error.found}' (line {line}, position {column}).",
            sql_state="42601",
            next_step=error.expected,
        ) from None
    assert isinstance(statement, DatasetStatement), "the grammar of the command is narrower"
    return statement


def drop_table(spark: SparkSession, name: Sequence[str], pipeline: str) -> None:
    """Drop the table, if it exists."""
    # DROP TABLE of a materialized view is for its pipeline alone.
    with temporary_conf(spark, {"pipelines.id": pipeline}):
        spark.sql(f"DROP TABLE IF EXISTS {quote_name(name)} PURGE")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
