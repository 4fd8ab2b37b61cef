"""The landing volume as streams."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

__all__ = ["landed"]


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
