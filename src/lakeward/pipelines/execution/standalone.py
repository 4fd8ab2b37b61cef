"""Statements on standalone materialized views and streaming tables.

Each is a pipeline of one dataset whose only source is the CREATE statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from lakeward.dataset_properties import KIND_PROPERTY
from lakeward.errors import SqlError
from lakeward.pipelines.api.registry import active_registry
from lakeward.pipelines.execution.standalone_update import drop_table, parse_definition, update_table
from lakeward.pipelines.graph.column_ddl import format_ddl
from lakeward.pipelines.graph.elements import TableOptions
from lakeward.pipelines.graph.session_scope import active_reader
from lakeward.pipelines.incremental.eligibility import check_eligibility
from lakeward.pipelines.incremental.technique_choice import possible_techniques
from lakeward.pipelines.incremental.view_plan import read_view_plan
from lakeward.pipelines.sql.queries import NameScope, query_function
from lakeward.pipelines.sql.statements import SourceStatement
from lakeward.pipelines.storage.delta_tables import StoredTable, load_table
from lakeward.quoting import names_path, quote_name, use_statement
from lakeward.spark_internals import activated
from lakeward.sql import (
    LABELS,
    PIPELINE,
    AlterSchedule,
    Command,
    CreateStandaloneTable,
    DropMaterializedView,
    ExplainMaterializedView,
    RefreshStandaloneTable,
    Rows,
    StandaloneTable,
    current_context,
    find_standalone_table,
    run_with_delta,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings
    from lakeward.sql import DatasetKind

# Conditions for a table of another kind, and for one that a pipeline of files manages.
_OTHER_KIND = {
    "materialized_view": "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW",
    "streaming_table": "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE",
}
_OTHER_PIPELINE = {
    "materialized_view": "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.REPLACE_DELTA_LIVE_TABLE",
    "streaming_table": "STREAMING_TABLE_OPERATION_NOT_ALLOWED.REFRESH_DELTA_LIVE_TABLE",
}
_SCHEDULE_KEYWORDS = re.compile(r"SCHEDULE\s+(REFRESH\s+)?", re.IGNORECASE)
_CRON = re.compile(r"CRON\b", re.IGNORECASE)
_TIME_ZONE = re.compile(r"\bAT\s+TIME\s+ZONE\b", re.IGNORECASE)
_SQL_STATES = {"materialized_view": "56038", "streaming_table": "42601"}


def create_standalone_table(spark: SparkSession, command: CreateStandaloneTable) -> None:
    """Create, replace or refresh the table. A statement that fails leaves the table as it was."""
    _require_no_pipeline(spark, f"CREATE {LABELS[command.kind].upper()}")
    context = current_context(spark)
    name = context.qualify(command.table)
    context.require_schema(*name[:2])
    statement = parse_definition(command.text)
    table = StandaloneTable(
        command.kind,
        name,
        command.text,
        context.catalog,
        context.schema,
        schedule=_schedule(spark, _part(command.text, statement.schedule)),
        query=_part(command.text, statement.query),
    )
    with table.lock(context.settings):
        stored = load_table(spark, name)
        exists = stored is not None or spark.catalog.tableExists(quote_name(name))
        if exists and command.if_not_exists:
            return
        if exists and not command.or_replace:
            raise SqlError(
                "TABLE_OR_VIEW_ALREADY_EXISTS",
                f"{quote_name(name)} already exists.",
                parameters={"relationName": quote_name(name)},
            )
        known = None
        if exists:
            known = _require_standalone(context.settings, stored, command.kind, name, "REPLACE")
        else:
            # Whatever an earlier table of this name left behind belongs to rows that are gone.
            table.remove(context.settings)
        update_table(spark, context.settings, table, previous=known, full=False)


def refresh_standalone_table(spark: SparkSession, command: RefreshStandaloneTable) -> Any:
    """Refresh the table; REFRESH TABLE of any other table, or of a path, is Spark's own statement."""
    if command.kind is None and names_path(command.table) and not command.full:
        return run_with_delta(spark, command.text)
    context = current_context(spark)
    name = context.qualify(command.table)
    stored = load_table(spark, name) if context.schema_exists(*name[:2]) else None
    known = find_standalone_table(context.settings, _properties(stored).get(PIPELINE))
    if command.kind is None and known is None and not command.full:
        if stored is not None:
            return run_with_delta(spark, command.text)
        # Spark's statement refuses views, which are no tables of a catalog of this kind.
        spark.catalog.refreshTable(quote_name(command.table))
        return None
    kind = command.kind or (known.kind if known is not None else "streaming_table")
    _require_no_pipeline(spark, f"REFRESH {LABELS[kind].upper()}")
    _require_table(spark, command.table)
    known = _require_standalone(context.settings, stored, kind, name, "REFRESH")
    with known.lock(context.settings):
        # Another process may have replaced the definition in the meantime, or dropped the table.
        _require_table(spark, command.table)
        known = find_standalone_table(context.settings, known.pipeline) or known
        update_table(spark, context.settings, known, previous=known, full=command.full)
    return None


def drop_materialized_view(spark: SparkSession, command: DropMaterializedView) -> None:
    """Drop the view with its definition."""
    context = current_context(spark)
    name = context.qualify(command.table)
    if command.if_exists and not spark.catalog.tableExists(quote_name(name)):
        return
    _require_table(spark, command.table)
    properties = _properties(load_table(spark, name))
    if properties.get(KIND_PROPERTY) != "materialized_view":
        _refuse_other_kind("materialized_view", name, "DROP")
    known = find_standalone_table(context.settings, properties.get(PIPELINE))
    # A refresh of another process would make the table again.
    with nullcontext() if known is None else known.lock(context.settings):
        drop_table(spark, name, properties.get(PIPELINE, ""))
        if known is not None:
            known.remove(context.settings)


def alter_schedule(spark: SparkSession, command: AlterSchedule) -> None:
    """Store the schedule of the table."""
    context = current_context(spark)
    name = context.qualify(command.table)
    _require_table(spark, command.table)
    stored = load_table(spark, name)
    known = _require_standalone(context.settings, stored, command.kind, name, "ALTER")
    with known.lock(context.settings):
        known = find_standalone_table(context.settings, known.pipeline) or known
        if command.is_new and known.schedule:
            raise SqlError(
                "SCHEDULE_ALREADY_EXISTS",
                f"Cannot add {command.schedule} to a table that already has {known.schedule}.",
                sql_state="42710",
                next_step="Drop the schedule, or write ALTER SCHEDULE to replace it.",
            )
        replace(known, schedule=_schedule(spark, command.schedule)).save(context.settings)


def explain_materialized_view(spark: SparkSession, command: ExplainMaterializedView) -> Rows:
    """Return whether the view can be refreshed incrementally: the techniques, or every reason why not."""
    context = current_context(spark)
    statement = parse_definition(command.text)
    assert statement.query is not None, "the grammar of materialized views needs a query"
    fresh = spark.newSession()
    fresh.sql(use_statement([context.catalog, context.schema]))
    source = SourceStatement(command.text, "EXPLAIN", 1, 1)
    with activated(fresh):
        query = query_function(fresh, source, statement.query, NameScope(), statement.columns)
        plan = read_view_plan(query())
    given = statement.options
    options = TableOptions(
        partition_cols=tuple(given.get("partition_cols", ())),
        schema=format_ddl(statement.columns),
        row_filter=given.get("row_filter"),
    )
    eligibility = check_eligibility(plan, options)
    lines = [f"Incremental refresh: {'yes' if eligibility.is_eligible else 'no'}"]
    lines += [f"{issue.type}: {issue.text}" for issue in eligibility.issues]
    if eligibility.is_eligible:
        for appends, when in ((True, "After rows were only added"), (False, "After any other change")):
            techniques, why_not = possible_techniques(
                plan, eligibility, appends=appends, has_expectations=bool(statement.expectations)
            )
            lines.append(f"{when}: {', '.join(techniques) or why_not[0].text}")
    return Rows("plan STRING", [["\n".join(lines)]])


def _require_no_pipeline(spark: SparkSession, statement: str) -> None:
    if active_registry() is not None or active_reader(spark) is not None:
        raise SqlError(
            "UNSUPPORTED_PIPELINE_SPARK_SQL_COMMAND",
            f"{statement} cannot run through spark.sql in a pipeline.",
            sql_state="0A000",
            next_step="Declare the dataset in a SQL file of the pipeline, or with a decorator.",
        )


def _part(text: str, span: tuple[int, int] | None) -> str:
    return "" if span is None else text[slice(*span)]


def _schedule(spark: SparkSession, clause: str) -> str:
    """Return the schedule of a clause as DESCRIBE EXTENDED shows it; CRON is in the session's time zone."""
    schedule = _SCHEDULE_KEYWORDS.sub("", clause)
    if _CRON.match(schedule) and not _TIME_ZONE.search(schedule):
        return f"{schedule} AT TIME ZONE '{spark.conf.get('spark.sql.session.timeZone')}'"
    return schedule


def _require_table(spark: SparkSession, table: Sequence[str]) -> None:
    """Raise Spark's TABLE_OR_VIEW_NOT_FOUND if nothing has this name."""
    spark.table(quote_name(table))


def _properties(stored: StoredTable | None) -> Mapping[str, str]:
    return {} if stored is None else stored.properties


def _require_standalone(
    settings: Settings, stored: StoredTable | None, kind: DatasetKind, name: tuple[str, ...], operation: str
) -> StandaloneTable:
    """Return the stored definition of a table. Raises SqlError for other kinds and for pipelines' tables.

    Args:
        settings: The lakehouse.
        stored: The table, None for what is not a Delta table.
        kind: What the statement says it is.
        name: Its catalog, schema and name.
        operation: The statement, for the error.
    """
    properties = _properties(stored)
    if properties.get(KIND_PROPERTY) != kind:
        _refuse_other_kind(kind, name, operation)
    known = find_standalone_table(settings, properties.get(PIPELINE))
    if known is None:
        reason = f"the pipeline `{properties.get(PIPELINE)}` manages {quote_name(name)}"
        _refuse(_OTHER_PIPELINE, kind, operation, f"{reason}. Change or run that pipeline.")
    return known


def _refuse_other_kind(kind: DatasetKind, name: tuple[str, ...], operation: str) -> NoReturn:
    _refuse(_OTHER_KIND, kind, operation, f"{quote_name(name)} is not a {LABELS[kind]}.")


def _refuse(conditions: Mapping[str, str], kind: DatasetKind, operation: str, reason: str) -> NoReturn:
    raise SqlError(
        conditions[kind],
        f"The operation {operation} is not allowed: {reason}",
        sql_state=_SQL_STATES[kind],
    )


HANDLERS: Mapping[type[Command], Callable[[SparkSession, Any], Any]] = {
    CreateStandaloneTable: create_standalone_table,
    RefreshStandaloneTable: refresh_standalone_table,
    DropMaterializedView: drop_materialized_view,
    AlterSchedule: alter_schedule,
    ExplainMaterializedView: explain_materialized_view,
}
