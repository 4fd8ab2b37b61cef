"""What serverless compute refuses and a classic session does: the table of it.

It is the one source: whoever refuses something under the profile `serverless`, and `lakeward check`, read
it. Source: https://docs.databricks.com/aws/en/compute/serverless/limitations and, for the attributes,
Spark Connect's own client (`pyspark.sql.connect`), which serverless compute is reached by.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SERVERLESS_LIMITS", "SERVERLESS_NAMES", "SERVERLESS_SETTINGS", "Limit"]


@dataclass(frozen=True)
class Limit:
    """One attribute or method of a PySpark class that serverless compute does not have.

    `condition` is the platform's own; `instead` is the sentence that helps.
    """

    owner: str
    name: str
    condition: str
    instead: str


_JVM = "JVM_ATTRIBUTE_NOT_SUPPORTED"
_NOT_THERE = "NOT_SUPPORTED_WITH_SERVERLESS"
_NO_JVM = "There is no JVM to reach on serverless compute: use the DataFrame API or spark.conf"
_NO_CACHE = "Leave it out, or write a table where the result is needed several times"
_NO_RDD = "Use DataFrames; mapInPandas, mapInArrow and applyInPandas stand for mapPartitions"
_NO_GLOBAL = "Make a temporary view of the session, or a table"

SERVERLESS_LIMITS: tuple[Limit, ...] = (
    Limit("SparkSession", "sparkContext", _JVM, _NO_RDD),
    *(
        Limit("SparkSession", name, _JVM, _NO_JVM)
        for name in ("_sc", "_jsc", "_jvm", "_jconf", "_jsparkSession")
    ),
    Limit("SparkSession", "newSession", _JVM, "Use the session that is there"),
    Limit("DataFrame", "rdd", _JVM, _NO_RDD),
    *(Limit("DataFrame", name, _JVM, _NO_JVM) for name in ("_jdf", "_jseq", "_jmap", "_jcols")),
    *(Limit("DataFrame", name, _NOT_THERE, _NO_CACHE) for name in ("cache", "persist", "unpersist")),
    *(
        Limit("DataFrame", name, _NOT_THERE, _NO_GLOBAL)
        for name in ("createGlobalTempView", "createOrReplaceGlobalTempView")
    ),
    *(
        Limit("Catalog", name, _NOT_THERE, _NO_CACHE)
        for name in ("cacheTable", "uncacheTable", "clearCache", "isCached")
    ),
)

SERVERLESS_SETTINGS = frozenset(
    (
        "spark.databricks.execution.timeout",
        "spark.sql.ansi.enabled",
        "spark.sql.files.maxPartitionBytes",
        "spark.sql.legacy.timeParserPolicy",
        "spark.sql.session.timeZone",
        "spark.sql.shuffle.partitions",
    )
)
"""The Spark settings that serverless compute lets notebooks and jobs set; others are CONFIG_NOT_AVAILABLE."""

SERVERLESS_NAMES = {"sc": _NO_RDD, "sqlContext": "Use spark: it has everything that sqlContext has"}
"""Names that notebooks have without an import on classic compute alone, and what to use instead."""
