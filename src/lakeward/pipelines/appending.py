"""Appends that happen once, however often they are tried, and columns that come with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.names import quoted
from lakeward.pipelines.tables import stored_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.types import StructType

__all__ = ["append_once", "widen"]


def append_once(rows: DataFrame, *, app: str, number: int) -> DataFrameWriter:
    """A writer that appends to a Delta table, new columns included.

    The commit carries `app` and `number` as its transaction, so the mark stands exactly when the rows do;
    Delta itself leaves a write out whose `app` has come to `number` already.
    """
    return (
        rows.write.format("delta")
        .mode("append")
        .option("mergeSchema", "true")
        .option("txnAppId", app)
        .option("txnVersion", str(number))
    )


def widen(spark: SparkSession, key: tuple[str, ...], schema: StructType) -> None:
    """Give the table the columns of `schema` that it lacks, in a commit without rows."""
    has = {field.name.lower() for field in stored_rows(spark, key).schema.fields}
    if any(field.name.lower() not in has for field in schema.fields):
        empty = spark.createDataFrame([], schema)
        empty.write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable(quoted(key))
