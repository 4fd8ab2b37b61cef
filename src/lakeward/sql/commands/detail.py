"""DESCRIBE DETAIL with the user's name of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.sql.commands.delta import by_delta

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["describe_detail"]


def describe_detail(spark: SparkSession, *, text: str) -> Any:
    """What Delta's own DESCRIBE DETAIL gives, but for the name. Raises what that raises."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    jvm: Any = spark._jvm
    rows = DataFrame(by_delta(spark, text), spark)
    row = rows.first()
    name = None if row is None else row["name"]
    if name is None or not name.startswith("spark_catalog."):
        return rows._jdf
    _, database, table = name.split(".", 2)
    names = jvm.lakeward.Names
    shown = ".".join((names.catalog(database), names.schema(database), table))
    return rows.withColumn("name", F.lit(shown))._jdf
