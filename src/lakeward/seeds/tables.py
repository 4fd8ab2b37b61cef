"""Seeds as tables: written whole, in one commit, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.seeds.names import TableName
from lakeward.session import ensure_schema
from lakeward.spark_internals import java_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write(spark: SparkSession, name: TableName, frame: DataFrame) -> None:
    """Make `frame` the content and the schema of the table `name`; what was there is replaced."""
    ensure_schema(spark, name.catalog, name.schema)
    frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true").saveAsTable(name.quoted)


def exists(spark: SparkSession, name: TableName) -> bool:
    """Return whether the table is there."""
    jvm_catalog = java_session(spark).catalog()
    return bool(jvm_catalog.tableExists(name.quoted))
