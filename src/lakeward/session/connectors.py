"""Data formats that the platform brings along and Spark without further packages does not know."""

from __future__ import annotations

__all__ = ["CONNECTORS", "SPARK"]

SPARK = "4.2.0"
"""The Spark that lakeward brings, and so the version of its modules."""

CONNECTORS = {
    "avro": f"org.apache.spark:spark-avro_2.13:{SPARK}",
    "kafka": f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK}",
    "kinesis": "",
    "eventhubs": "",
    "pubsub": "",
    "pulsar": "",
    "snowflake": "",
    "bigquery": "",
    "redshift": "",
    "sqldw": "",
    "com.databricks.spark.sqldw": "",
    "sqlserver": "",
    "postgresql": "",
    "mysql": "",
    "oracle": "",
    "mongodb": "",
    "cosmos.oltp": "",
    "deltasharing": "io.delta:delta-sharing-spark_2.13",
    "iceberg": "",
    "hudi": "",
}
"""Formats, in lower case, and the Maven package that has each for this Spark, where one is known."""
