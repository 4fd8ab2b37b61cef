"""Properties of analyzed Spark queries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import analyzed_plan, jvm_view, sql_parser

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
_UNRESOLVED = re.compile(r"'UnresolvedRelation \[(.*?)\], \[.*?\], (true|false)")
_IDS = re.compile(r"#\d+L?|lakeward_\d+|(?<=\]), \d+$|\[plan_id=\d+\]", re.MULTILINE)
_MAX_FIELDS = 2_147_483_647


def referenced_tables(spark: SparkSession, sql: str) -> list[tuple[tuple[str, ...], bool]]:
    """Return the tables that SQL text reads as (name parts, is stream); none for invalid SQL."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        plan = sql_parser(spark).parsePlan(sql)
    except (Py4JError, PySparkException):
        return []
    found = _UNRESOLVED.findall(plan.treeString())
    return [
        (tuple(part.strip() for part in name.split(",")), streaming == "true") for name, streaming in found
    ]


def class_name(java: Any) -> str:
    """Return the simple class name of a JVM object."""
    return str(java.getClass().getSimpleName()).rstrip("$")


def source_nodes(df: DataFrame) -> list[Any]:
    """Return the leaf nodes of a query's plan, including those of subqueries."""
    analyzed = analyzed_plan(df)
    plans = [analyzed, *_as_list(analyzed.subqueriesAll())]
    return [leaf for plan in plans for leaf in _as_list(plan.collectLeaves())]


def plan_text(df: DataFrame) -> str:
    """Return the analyzed plan as text, complete and without ids that differ from run to run."""
    analyzed = analyzed_plan(df)
    return _IDS.sub("#", analyzed.treeString(True, False, _MAX_FIELDS, False, False))


def aggregates_without_watermark(df: DataFrame) -> bool:
    """Return whether a stream supports only the mode `complete`: it aggregates without a watermark.

    Raises Spark's AnalysisException for a streaming query that no output mode supports.
    """
    from pyspark.errors import AnalysisException

    java = jvm_view(df.sparkSession).org.apache.spark.sql
    checker = java.catalyst.analysis.UnsupportedOperationChecker
    analyzed = analyzed_plan(df)
    try:
        checker.checkForStreaming(analyzed, java.streaming.OutputMode.Append())
    except AnalysisException as append:
        if not (append.getCondition() or "").startswith("STREAMING_OUTPUT_MODE"):
            raise
        checker.checkForStreaming(analyzed, java.streaming.OutputMode.Complete())
        return True
    return False


def require_output_mode(df: DataFrame, mode: str) -> None:
    """Raise Spark's AnalysisException if the output mode does not support the stream."""
    java = jvm_view(df.sparkSession).org.apache.spark.sql
    modes = java.streaming.OutputMode
    checker = java.catalyst.analysis.UnsupportedOperationChecker
    wanted = modes.Update() if mode == "update" else modes.Append()
    checker.checkForStreaming(analyzed_plan(df), wanted)


def _as_list(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.length())]
