"""CREATE TABLE with keys and policies: the table, and then what is kept beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.sql.commands.keys import keep_keys
from lakeward.sql.commands.policies import set_mask, set_row_filter
from lakeward.sql.commands.tables import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["create_table"]


def create_table(
    spark: SparkSession,
    *,
    table: list[str],
    text: str,
    replace: bool,
    if_not_exists: bool,
    row_filter: dict[str, Any] | None,
    masks: dict[str, dict[str, Any]],
    keys: list[dict[str, Any]],
) -> dict[str, Any]:
    """A new table whose policies or keys are refused does not stay. Raises what its parts raise."""
    name = quoted(table)
    existed = spark.catalog.tableExists(name)
    if existed and if_not_exists:
        return {}
    spark.sql(text)
    try:
        if keys or replace:
            keep_keys(spark, table, keys)
        if row_filter is not None:
            set_row_filter(spark, table=table, **row_filter)
        for column, mask in masks.items():
            set_mask(spark, table=table, column=column, **mask)
    except Exception:
        if not existed:
            spark.sql(f"DROP TABLE {name}")
        raise
    return {}
