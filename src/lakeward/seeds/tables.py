"""Seeds as tables: written whole, in one commit, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.nested_types import needs_column_mapping
from lakeward.seeds.frames import frame_of_files
from lakeward.seeds.names import TableName
from lakeward.session import ensure_schema
from lakeward.spark_internals import java_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def seed_files(spark: SparkSession, name: TableName, source: Path, ddl: Path | None = None) -> int:
    """Create the table `name` from a file or folder, with the schema in `ddl` if given.

    Returns the number of rows. An existing table is replaced in one commit. Raises SeedError before any table
    is changed.
    """
    seed_frame(spark, name, frame_of_files(spark, source, ddl))
    return spark.table(name.quoted).count()


def seed_frame(spark: SparkSession, name: TableName, frame: DataFrame) -> None:
    """Create the table `name` from a DataFrame; replace an existing one in one commit."""
    ensure_schema(spark, name.catalog, name.schema)
    writer = frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    if needs_column_mapping(frame.schema):
        writer = writer.option("delta.columnMapping.mode", "name")
    writer.saveAsTable(name.quoted)


def exists(spark: SparkSession, name: TableName) -> bool:
    """Return whether the table is there."""
    jvm_catalog = java_session(spark).catalog()
    return bool(jvm_catalog.tableExists(name.quoted))
