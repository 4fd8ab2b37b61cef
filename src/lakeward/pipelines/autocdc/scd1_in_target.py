"""SCD type 1 where the sequence is a column of the target.

The row of a present key has the greatest sequence of an upsert, which is greater than that of any delete.
The auxiliary table therefore needs to hold deletes only, and a batch is one MERGE that compares sequences
and respects remembered deletes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward.pipelines.autocdc.cdc_schema import CdcSchema, tie_breaker
from lakeward.pipelines.autocdc.scd1 import fold_events
from lakeward.pipelines.autocdc.target_table import MergeMetrics, TargetTable
from lakeward.pipelines.storage.delta_tables import read_stored_rows
from lakeward.quoting import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType
# The sequence of an upsert, comparable with `__down`; NULL is ordered in structs.
_UPSERT_SEQUENCE = "named_struct('__seq', s.__up.__seq)"
_IS_PRESENT = f"s.__up IS NOT NULL AND (s.__down IS NULL OR {_UPSERT_SEQUENCE} > s.__down)"


def find_sequence_column(cdc_schema: CdcSchema, source: DataFrame, target: StructType) -> str | None:
    """Return the target's column with the current sequences, None if the auxiliary table must hold them.

    Partial updates need the sequence of every value, and a truncate may be older than rows that existed
    before.
    """
    if cdc_schema.change_args.partial or cdc_schema.change_args.truncates is not None:
        return None
    return cdc_schema.target_sequence_column(source, target)


def with_known_deletes(added: DataFrame, deleted: DataFrame) -> DataFrame:
    """Add the deletes in rows of the auxiliary table, which have the same keys, to folded events."""
    from pyspark.sql import functions as F

    last = deleted.groupBy("__key").agg(F.max("__down").alias("__down_before"))
    joined = added.join(last, "__key", "left")
    return joined.withColumn("__down", F.greatest("__down", "__down_before")).drop("__down_before")


def merge_changes(
    target: TargetTable,
    sequence_column: str,
    changes: DataFrame,
    *,
    null_keys: bool,
    key_range: str,
) -> MergeMetrics:
    """Merge folded events, with earlier deletes, into the target; idempotent.

    Args:
        target: The target.
        sequence_column: Its column with the sequences.
        changes: The folded events.
        null_keys: Whether a key has a NULL.
        key_range: A condition on the target that all rows with these keys meet.
    """
    columns = ", ".join(f"t.{quote_name([name])}" for name in target.cdc_schema.columns)
    number = tie_breaker(changes.schema["__row"].dataType, f"struct({columns})")
    stored = f"'__seq', t.{quote_name([sequence_column])}"
    sequence = f"named_struct({stored})"
    return target.merge(
        changes,
        null_keys=null_keys,
        delete=f"s.__down >= {sequence} AND (s.__up IS NULL OR s.__down >= {_UPSERT_SEQUENCE})",
        update=f"CASE WHEN s.__up IS NULL THEN false WHEN {_UPSERT_SEQUENCE} = {sequence} THEN NULL "
        f"ELSE {_UPSERT_SEQUENCE} > {sequence} END",
        tie=f"s.__up > named_struct({stored}, '__tie', {number})",
        insert=_IS_PRESENT,
        key_range=key_range,
    )


def append_changes(
    target: TargetTable, changes: DataFrame, *, upserts: int | None, app: str, number: int
) -> MergeMetrics:
    """Append folded events whose keys the target does not have; idempotent.

    Args:
        target: The target.
        changes: The folded events.
        upserts: Their number if none of them deletes and no earlier delete applies; else None.
        app: Name of the writer in the commit.
        number: Number of the batch.
    """
    rows = changes.alias("s").where(_IS_PRESENT)
    count = rows.count() if upserts is None else upserts
    if count:
        target.append(rows, app=app, number=number)
    return MergeMetrics(count)


def current_rows(
    spark: SparkSession, target: TargetTable, sequence_column: str, schema: StructType
) -> DataFrame:
    """Fold the target's rows for an auxiliary table that holds all sequences."""
    cdc_schema, partial = target.cdc_schema, target.cdc_schema.change_args.partial
    change = dataclasses.replace(
        cdc_schema.change_args,
        sequence_by=sequence_column,
        deletes=None,
        truncates=None,
        columns_to_update=None,
        ignore_null=partial,
    )
    events = dataclasses.replace(cdc_schema, change_args=change).events(
        read_stored_rows(spark, target.key), schema
    )
    return fold_events(events, partial=partial)
