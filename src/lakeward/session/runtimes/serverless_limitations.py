"""The limitations of serverless compute, as a table.

The enforcement under the profile `serverless` and `lakeward check` read it. Sources:
https://docs.databricks.com/aws/en/compute/serverless/limitations and, for the attributes, Spark Connect's own
client (`pyspark.sql.connect`), through which serverless compute is used. Messages are those that users of the
platform report; a `subject` without such a report is marked `assumed`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """One attribute or method of a PySpark class that serverless compute lacks.

    `condition` is the platform's own; `instead` is the recommended alternative; `subject` is the name in the
    platform's message.
    """

    owner: str
    name: str
    condition: str
    instead: str
    subject: str = ""
    assumed: bool = False


@dataclass(frozen=True)
class StatementLimit:
    """A kind of SQL statement that serverless compute rejects, recognized by the start of its text."""

    begins: str
    condition: str
    subject: str
    instead: str
    assumed: bool = False


_JVM = "JVM_ATTRIBUTE_NOT_SUPPORTED"
_NOT_THERE = "NOT_SUPPORTED_WITH_SERVERLESS"
_GLOBAL_VIEW = "GLOBAL TEMPORARY VIEW"
_NO_JVM = "There is no JVM to reach on serverless compute: use the DataFrame API or spark.conf"
_NO_CACHE = "Leave it out, or write a table where the result is needed several times"
_NO_RDD = "Use DataFrames; mapInPandas, mapInArrow and applyInPandas stand for mapPartitions"
_NO_REFRESH = "Leave it out: a table's files are looked up at every read"
_NO_SETTING = "Leave it out, or set it only where compute is classic"
_NO_GLOBAL = "Make a temporary view of the session, or a table"

SERVERLESS_LIMITS: tuple[Limit, ...] = (
    Limit("SparkSession", "sparkContext", _JVM, _NO_RDD),
    *(
        Limit("SparkSession", name, _JVM, _NO_JVM)
        for name in ("_sc", "_jsc", "_jvm", "_jconf", "_jsparkSession")
    ),
    Limit("SparkSession", "newSession", _JVM, "Use the session that is there"),
    # Spark Connect's client defines this property separately, with its own condition.
    Limit("DataFrame", "rdd", "NOT_IMPLEMENTED", _NO_RDD),
    *(Limit("DataFrame", name, _JVM, _NO_JVM) for name in ("_jdf", "_jseq", "_jmap", "_jcols")),
    *(Limit("DataFrame", name, _NOT_THERE, _NO_CACHE, "PERSIST TABLE") for name in ("cache", "persist")),
    Limit("DataFrame", "unpersist", _NOT_THERE, _NO_CACHE, "UNPERSIST TABLE", assumed=True),
    *(
        Limit("DataFrame", name, _NOT_THERE, _NO_GLOBAL, _GLOBAL_VIEW)
        for name in ("createGlobalTempView", "createOrReplaceGlobalTempView")
    ),
    *(
        Limit("Catalog", name, _NOT_THERE, _NO_CACHE, subject, assumed=True)
        for name, subject in (
            ("cacheTable", "CACHE TABLE"),
            ("uncacheTable", "UNCACHE TABLE"),
            ("clearCache", "CLEAR CACHE"),
            ("isCached", "CACHE TABLE"),
        )
    ),
    Limit("Catalog", "refreshTable", _NOT_THERE, _NO_REFRESH, "REFRESH TABLE", assumed=True),
    Limit("SparkContext", "getOrCreate", "CONTEXT_UNAVAILABLE_FOR_REMOTE_CLIENT", _NO_RDD),
)

SERVERLESS_STATEMENTS: tuple[StatementLimit, ...] = (
    StatementLimit(r"CACHE\s+(?:LAZY\s+)?TABLE\b", _NOT_THERE, "CACHE TABLE", _NO_CACHE, assumed=True),
    StatementLimit(r"UNCACHE\s+TABLE\b", _NOT_THERE, "UNCACHE TABLE", _NO_CACHE, assumed=True),
    StatementLimit(r"CLEAR\s+CACHE\b", _NOT_THERE, "CLEAR CACHE", _NO_CACHE, assumed=True),
    StatementLimit(r"REFRESH\s+TABLE\b", _NOT_THERE, "REFRESH TABLE", _NO_REFRESH),
    StatementLimit(
        r"CREATE\s+(?:OR\s+REPLACE\s+)?GLOBAL\s+TEMP(?:ORARY)?\s+VIEW\b", _NOT_THERE, _GLOBAL_VIEW, _NO_GLOBAL
    ),
)

SERVERLESS_TRIGGERS = ("availableNow", "once")
"""The supported triggers of a stream; others, and the default, are
INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED."""

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
"""The Spark settings that notebooks and jobs may set; others raise CONFIG_NOT_AVAILABLE."""

SERVERLESS_NAMES = {"sc": _NO_RDD, "sqlContext": "Use spark: it has everything that sqlContext has"}
"""Names that only classic compute defines in notebooks, and their replacements."""
_COMMENTS = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*[\s\S]*?\*/)*")
_SET = re.compile(r"SET\s+`?(spark\.[\w.]+)`?\s*=", re.IGNORECASE)


def refused_statement(text: str) -> StatementLimit | None:
    """Return the limit that a SQL statement (or SET of a setting) violates; None for a supported one.

    >>> refused_statement("-- daily\\ncache lazy table t").subject
    'CACHE TABLE'
    >>> refused_statement("SET spark.sql.adaptive.enabled = false").condition
    'CONFIG_NOT_AVAILABLE'
    """
    start = _COMMENTS.match(text)
    begun = start.end() if start else 0
    for limit in SERVERLESS_STATEMENTS:
        if re.compile(limit.begins, re.IGNORECASE).match(text, begun):
            return limit
    setting = _SET.match(text, begun)
    if setting and setting.group(1) not in SERVERLESS_SETTINGS:
        return StatementLimit(_SET.pattern, "CONFIG_NOT_AVAILABLE", setting.group(1), _NO_SETTING)
    return None
