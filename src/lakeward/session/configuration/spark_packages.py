"""Maven coordinates that users name for a session: what belongs to Spark and Delta comes in their versions.

A connector of Spark's own works with the Spark that it was built with and no other, and on the platform the
runtime brings the one that fits, whatever the code's own session builder names for a laptop.
"""

from __future__ import annotations

import re

# Delta comes with the session, and a second one of another version breaks both.
_DELTA = re.compile(r"delta-(?:core|spark|storage|kernel)[\w.-]*")
_SCALA = re.compile(r"_2\.1[0-3](?=$|[_-])")
# What Spark's own jar files hold of Hadoop; a second one of another version breaks both.
_IN_SPARK = ("hadoop-common", "hadoop-client", "hadoop-client-api", "hadoop-client-runtime", "hadoop-hdfs")
_HADOOP = "3.5.0"
"""The Hadoop in Spark's own jar files."""


def without_delta(value: str) -> str:
    """A list of Maven coordinates or jar files less those that are Delta Lake itself.

    >>> without_delta("io.delta:delta-spark_2.13:4.0.0, org.x:y:1,/jars/delta-core_2.12-2.4.0.jar")
    'org.x:y:1'
    """
    return ",".join(entry for entry in _entries(value) if not _is_delta(entry))


def fitting(packages: str) -> str:
    """Maven coordinates without Delta, and with the modules of Spark and Hadoop that fit this Spark.

    Packages for another Scala become those for this one: classes for another cannot be loaded with it.

    >>> fitting("org.apache.spark:spark-avro_2.12:3.5.4,org.x:y_2.12:1,org.apache.hadoop:hadoop-aws:3.3.2")
    'org.apache.spark:spark-avro_2.13:4.2.0,org.x:y_2.13:1,org.apache.hadoop:hadoop-aws:3.5.0'
    """
    fitted = (_fitted(entry) for entry in _entries(without_delta(packages)))
    return ",".join(dict.fromkeys(entry for entry in fitted if entry))


def _fitted(entry: str) -> str:
    group, _, rest = entry.partition(":")
    artifact, *further = rest.split(":")
    if len(further) != 1:
        return entry
    if group != "org.apache.spark" and _SCALA.search(artifact):
        return f"{group}:{_SCALA.sub('_2.13', artifact)}:{further[0]}"
    if group == "org.apache.spark" and _SCALA.search(artifact):
        return f"{group}:{_SCALA.sub('_2.13', artifact)}:{SPARK}"
    if group == "org.apache.hadoop":
        return "" if artifact in _IN_SPARK else f"{group}:{artifact}:{_HADOOP}"
    return entry


def _entries(value: str) -> list[str]:
    return [entry.strip() for entry in value.split(",") if entry.strip()]


def _is_delta(entry: str) -> bool:
    coordinates = entry.split(":")
    if len(coordinates) >= 3 and coordinates[0] == "io.delta":
        return _DELTA.fullmatch(coordinates[1]) is not None
    return entry.endswith(".jar") and _DELTA.match(entry.rsplit("/", 1)[-1]) is not None


SPARK = "4.2.0"
"""The Spark that lakeward brings, and so the version of its modules."""

CONNECTORS = {
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
