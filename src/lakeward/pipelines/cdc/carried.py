"""SCD type 1 where the sequence is a column of the target: its rows say what stands (spec §3.2).

Of a key that is there, the row has the greatest sequence of an upsert, and it is greater than that of any
delete. So the side table need not know what stands but only what was deleted, and a batch is one MERGE that
compares sequences, as people write it by hand, with deletes remembered.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward.pipelines.cdc import scd1
from lakeward.pipelines.cdc.shape import Shape, tie
from lakeward.pipelines.cdc.target import Target, Written
from lakeward.pipelines.names import quoted
from lakeward.pipelines.tables import stored_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["carrier", "merged", "standing", "with_deletes"]

# Of an upsert, as `__down` of a delete; both are structs, whose order has a place for NULL.
_AT = "named_struct('__seq', s.__up.__seq)"


def carrier(shape: Shape, source: DataFrame, target: StructType) -> str | None:
    """The target's column that says what stands, None where the side table has to.

    Partial updates need every value's sequence, and a truncate may be older than rows that stood before it.
    """
    if shape.change.partial or shape.change.truncates is not None:
        return None
    return shape.carrier(source, target)


def with_deletes(added: DataFrame, deleted: DataFrame) -> DataFrame:
    """A contribution with what the side table's rows, which are those of its keys, say of deletes."""
    from pyspark.sql import functions as F

    last = deleted.groupBy("__key").agg(F.max("__down").alias("__down_before"))
    joined = added.join(last, "__key", "left")
    return joined.withColumn("__down", F.greatest("__down", "__down_before")).drop("__down_before")


def merged(target: Target, carrier: str, changes: DataFrame, *, null_keys: bool) -> Written:
    """Bring a contribution, deletes of former batches in it, into the target; idempotent."""
    columns = ", ".join(f"t.{quoted([name])}" for name in target.shape.columns)
    seq, number = f"t.{quoted([carrier])}", tie(changes.schema["__row"].dataType, f"struct({columns})")
    return target.merge(
        changes,
        equals="<=>" if null_keys else "=",
        delete=f"s.__down >= named_struct('__seq', {seq}) AND (s.__up IS NULL OR s.__down >= {_AT})",
        update=f"s.__up > named_struct('__seq', {seq}, '__tie', {number})",
        insert=f"s.__up IS NOT NULL AND (s.__down IS NULL OR {_AT} > s.__down)",
    )


def standing(spark: SparkSession, target: Target, carrier: str, schema: StructType) -> DataFrame:
    """What the target's rows contribute to a side table that tells all."""
    shape, partial = target.shape, target.shape.change.partial
    change = dataclasses.replace(
        shape.change,
        sequence_by=carrier,
        deletes=None,
        truncates=None,
        columns_to_update=None,
        ignore_null=partial,
    )
    events = dataclasses.replace(shape, change=change).events(stored_rows(spark, target.key), schema)
    return scd1.contribution(events, partial=partial)
