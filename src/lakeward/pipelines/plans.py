"""Questions to Spark about a query that it has analyzed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["aggregates_without_watermark", "class_name", "leaves", "relations_in", "require_mode", "text_of"]

_UNRESOLVED = re.compile(r"'UnresolvedRelation \[(.*?)\], \[.*?\], (true|false)")
_IDS = re.compile(r"#\d+L?|lakeward_\d+|(?<=\]), \d+$|\[plan_id=\d+\]", re.MULTILINE)
_EVERYTHING = 2_147_483_647


def relations_in(spark: SparkSession, sql: str) -> list[tuple[tuple[str, ...], bool]]:
    """The tables that SQL text reads, as (name parts, as a stream); none for text that does not parse."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    except (Py4JError, PySparkException):
        return []
    found = _UNRESOLVED.findall(plan.treeString())
    return [
        (tuple(part.strip() for part in name.split(",")), streaming == "true") for name, streaming in found
    ]


def class_name(java: Any) -> str:
    """The simple name of a JVM object's class."""
    return str(java.getClass().getSimpleName()).rstrip("$")


def leaves(df: DataFrame) -> list[Any]:
    """The sources of a query, those of its subqueries included, as Spark's plan nodes."""
    analyzed = df._jdf.queryExecution().analyzed()
    plans = [analyzed, *_items(analyzed.subqueriesAll())]
    return [leaf for plan in plans for leaf in _items(plan.collectLeaves())]


def text_of(df: DataFrame) -> str:
    """The analyzed query as text, whole and without the ids that differ from run to run."""
    analyzed = df._jdf.queryExecution().analyzed()
    return _IDS.sub("#", analyzed.treeString(True, False, _EVERYTHING, False, False))


def aggregates_without_watermark(df: DataFrame) -> bool:
    """Whether a stream can only be written as a whole: it aggregates and no watermark ends its groups.

    Raises Spark's AnalysisException for a streaming query that can be written in no way.
    """
    from pyspark.errors import AnalysisException

    java = df.sparkSession._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    checker = java.catalyst.analysis.UnsupportedOperationChecker
    analyzed = df._jdf.queryExecution().analyzed()
    try:
        checker.checkForStreaming(analyzed, java.streaming.OutputMode.Append())
    except AnalysisException as append:
        if not (append.getCondition() or "").startswith("STREAMING_OUTPUT_MODE"):
            raise
        checker.checkForStreaming(analyzed, java.streaming.OutputMode.Complete())
        return True
    return False


def require_mode(df: DataFrame, mode: str) -> None:
    """Raise Spark's AnalysisException for a stream that cannot be written in the output mode."""
    java = df.sparkSession._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    modes = java.streaming.OutputMode
    checker = java.catalyst.analysis.UnsupportedOperationChecker
    wanted = modes.Update() if mode == "update" else modes.Append()
    checker.checkForStreaming(df._jdf.queryExecution().analyzed(), wanted)


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.length())]
