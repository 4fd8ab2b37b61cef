"""INSERT … REPLACE USING and REPLACE ON: one MERGE that deletes what is replaced and inserts the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.sql.commands.tables import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["replace"]

# Marks the rows that are inserted; the same rows without it find what they replace.
_COMES = "__lakeward_comes"


def replace(
    spark: SparkSession,
    *,
    table: list[str],
    columns: list[str] | None,
    by_name: bool,
    alias: str | None,
    using: list[str] | None,
    on: str | None,
    query: str,
    source: str | None,
) -> dict[str, Any]:
    """Replace rows of a Delta table in one commit. Raises what the query or the MERGE raises."""
    from delta.tables import DeltaTable
    from pyspark.sql import functions as F

    target = DeltaTable.forName(spark, quoted(table))
    into, came = alias or table[-1], source or "__lakeward_source"
    rows = spark.sql(query)
    fields = columns or (rows.columns if by_name else target.toDF().columns)
    if len(fields) != len(rows.columns):
        raise _arity(table, fields, rows.columns)
    values = {
        f"`{field}`": F.col(f"`{came}`.`{name}`") for field, name in zip(fields, rows.columns, strict=True)
    }
    if using is not None:
        on = " AND ".join(f"`{into}`.`{name}` <=> `{came}`.`{name}`" for name in using)
        rows = rows.toDF(*fields)
        values = {f"`{field}`": F.col(f"`{came}`.`{field}`") for field in fields}
    finders = (rows.select(*using).distinct() if using is not None else rows).withColumn(_COMES, F.lit(False))
    both = rows.withColumn(_COMES, F.lit(True)).unionByName(finders, allowMissingColumns=True)
    (
        target.alias(into)
        .merge(both.alias(came), f"NOT `{came}`.{_COMES} AND ({on})")
        .whenMatchedDelete()
        .whenNotMatchedInsert(f"`{came}`.{_COMES}", values)  # type: ignore[arg-type]  # Columns are taken too
        .execute()
    )
    return {}


def _arity(table: list[str], fields: list[str], columns: list[str]) -> SqlError:
    which = "NOT_ENOUGH_DATA_COLUMNS" if len(columns) < len(fields) else "TOO_MANY_DATA_COLUMNS"
    return SqlError(
        f"INSERT_COLUMN_ARITY_MISMATCH.{which}",
        "The query has another number of columns than the table.",
        parameters={
            "tableName": quoted(table),
            "tableColumns": ", ".join(f"`{field}`" for field in fields),
            "dataColumns": ", ".join(f"`{column}`" for column in columns),
        },
    )
