"""Appends that happen once, however often they are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter

__all__ = ["append_once"]


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
