"""Materialized views and streaming tables as targets of statements that are for tables alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.quoting import names_path, quote_name
from lakeward.spark_internals import java_array, java_session, jvm_view
from lakeward.sql.standalone_tables import LABELS, DatasetKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Materialized views have no sub-condition for statements of other kinds.
_CONDITIONS = {
    "materialized_view": ("MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED", "56038"),
    "streaming_table": ("STREAMING_TABLE_OPERATION_NOT_ALLOWED.UNSUPPORTED_OPERATION", "42601"),
}
_ALTER = {
    "materialized_view": ("MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.INVALID_ALTER", "56038"),
    "streaming_table": ("STREAMING_TABLE_OPERATION_NOT_ALLOWED.INVALID_ALTER", "42601"),
}

_OTHERS = {
    "materialized_view": ("MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW", "56038"),
    "streaming_table": ("STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE", "42601"),
}


def dataset_kind(spark: SparkSession, table: Sequence[str]) -> DatasetKind | None:
    """Return the kind of the dataset of this name; None for others, and while its pipeline runs."""
    if names_path(list(table)):
        return None
    jvm: Any = jvm_view(spark)
    kind: DatasetKind | None = jvm.lakeward.RelationKind.ofDataset(
        java_session(spark), java_array(spark, *table)
    )
    return kind


def require_alterable(spark: SparkSession, table: Sequence[str]) -> None:
    """Raise SqlError if the columns and keys of the table are those of its definition."""
    kind = dataset_kind(spark, table)
    if kind is not None:
        raise _error(table, "ALTER TABLE", kind, _ALTER[kind])


def require_dataset(spark: SparkSession, table: Sequence[str], kind: DatasetKind) -> None:
    """Raise SqlError if the table is not of the kind that an ALTER statement names."""
    if dataset_kind(spark, table) == kind:
        return
    condition, sql_state = _OTHERS[kind]
    raise SqlError(
        condition,
        f"The operation ALTER is not allowed: {quote_name(table)} is not a {LABELS[kind]}.",
        sql_state=sql_state,
    )


def require_no_dataset(
    spark: SparkSession, table: Sequence[str], operation: str, condition: tuple[str, str] | None = None
) -> None:
    """Raise SqlError if the table is a materialized view or a streaming table.

    Args:
        spark: The session.
        table: The name, as the statement has it.
        operation: What the statement does, for the message.
        condition: Condition and SQLSTATE, if the statement has its own.

    Source: https://docs.databricks.com/aws/en/error-messages/streaming-table-operation-not-allowed-error-class
    """
    kind = dataset_kind(spark, table)
    if kind is not None:
        raise _error(table, operation, kind, condition or _CONDITIONS[kind])


def _error(table: Sequence[str], operation: str, kind: DatasetKind, condition: tuple[str, str]) -> SqlError:
    return SqlError(
        condition[0],
        f"The operation {operation} is not allowed: {quote_name(table)} is a {LABELS[kind]}.",
        sql_state=condition[1],
        next_step="Change its definition, or copy its rows with CREATE TABLE … AS SELECT.",
    )
