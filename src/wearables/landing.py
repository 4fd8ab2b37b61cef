"""The landing volume as streams, without the records of erased people."""

from __future__ import annotations

from databricks.sdk.runtime import dbutils
from pyspark.sql import DataFrame, SparkSession

from wearables import suppression

__all__ = ["landed", "without_erased"]


def landed(spark: SparkSession, folder: str, schema: str) -> DataFrame:
    """Read the JSON lines below `folder` incrementally, each file once; `file_name` says where a line stood.

    `schema` is fixed and names `_corrupt_record`: a line that is no JSON goes there whole, fields that the
    schema does not know go to `_rescued_data`. Neither stops the stream.
    """
    return (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "json")
        .option("cloudFiles.schemaEvolutionMode", "rescue")
        .option("rescuedDataColumn", "_rescued_data")
        .option("columnNameOfCorruptRecord", "_corrupt_record")
        .schema(schema)
        .load(folder)
        .select("*", "_metadata.file_name")
    )


def without_erased(spark: SparkSession, records: DataFrame) -> DataFrame:
    """Leave out records of erased people: a file that is delivered again brings no person back."""
    key = dbutils.secrets.get(scope=str(spark.conf.get("wearables.scope")), key=suppression.KEY)
    return suppression.unsuppressed(records, spark.read.table("suppressed"), key)
