"""Adapt the user's Maven coordinates: packages of Spark, Delta and Hadoop get the installed versions.

A connector of Spark only works with the Spark version for which it was built. On the platform the runtime
provides the right one, whatever version the code's session builder names.
"""

from __future__ import annotations

import re

# Parts of every session by group; a second version breaks both.
_INCLUDED = {
    "io.delta": re.compile(r"delta-(?:core|spark|storage|kernel)[\w.-]*"),
    "org.apache.spark": re.compile(r"spark-avro_[\w.-]*"),
}
_SCALA = re.compile(r"_2\.1[0-3](?=$|[_-])")
# Hadoop modules in Spark's jar files; a second version breaks both.
_IN_SPARK = ("hadoop-common", "hadoop-client", "hadoop-client-api", "hadoop-client-runtime", "hadoop-hdfs")
_HADOOP = "3.5.0"
"""The Hadoop version of Spark's jar files."""


def without_included(value: str) -> str:
    """Return a list of Maven coordinates or jar files without those that every session has.

    >>> without_included("io.delta:delta-spark_2.13:4.0.0, org.x:y:1,/jars/delta-core_2.12-2.4.0.jar")
    'org.x:y:1'
    """
    return ",".join(entry for entry in entries_of(value) if not _is_included(entry))


def adapt_packages(packages: str) -> str:
    """Return Maven coordinates with Spark and Hadoop modules in the installed versions.

    What every session has is left out: Delta Lake, `spark-avro`, and Hadoop's modules in Spark's jar files.

    Packages for another Scala version are replaced by those for this one: their classes could not be loaded.

    >>> adapt_packages("org.apache.spark:spark-hive_2.12:3.5.4,org.x:y_2.12:1")
    'org.apache.spark:spark-hive_2.13:4.2.0,org.x:y_2.13:1'
    >>> adapt_packages("org.apache.hadoop:hadoop-aws:3.3.2")
    'org.apache.hadoop:hadoop-aws:3.5.0'
    """
    adapted = (_adapt(entry) for entry in entries_of(without_included(packages)))
    return ",".join(dict.fromkeys(entry for entry in adapted if entry))


def _adapt(entry: str) -> str:
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


def entries_of(value: str) -> list[str]:
    """Return the entries of a setting that is a list."""
    return [entry.strip() for entry in value.split(",") if entry.strip()]


def _is_included(entry: str) -> bool:
    coordinates = entry.split(":")
    if len(coordinates) >= 3 and coordinates[0] in _INCLUDED:
        return _INCLUDED[coordinates[0]].fullmatch(coordinates[1]) is not None
    file = entry.rsplit("/", 1)[-1]
    return file.endswith(".jar") and any(each.match(file) for each in _INCLUDED.values())


SPARK = "4.2.0"
"""The installed Spark version, and so the version of its modules."""

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
"""Known formats, in lower case, with the Maven package that provides each for this Spark."""
