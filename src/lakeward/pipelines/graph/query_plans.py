"""Properties of Spark's queries: text of the plan, aggregations, column lineage, the slowest operators."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.elements import Key, split_name
from lakeward.spark_internals import JavaObject, analyzed_plan, java_session, jvm_view, scala_list, sql_parser

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_UNRESOLVED = re.compile(r"'UnresolvedRelation \[(.*?)\], \[.*?\], (true|false)")
_CHANGED = re.compile(
    r"'UnresolvedTableValuedFunction \[table_changes\], \[((?:`[^`]*`|[^`,\]])+)", re.IGNORECASE
)
_IDS = re.compile(r"#\d+L?|lakeward_\d+|(?<=\]), \d+$|\[plan_id=\d+\]", re.MULTILINE)
_OBSERVED = re.compile(r"\bCollectMetrics (\S+), \[")
_MAX_FIELDS = 2_147_483_647


def referenced_tables(spark: SparkSession, sql: str) -> list[tuple[tuple[str, ...], bool]]:
    """Return the tables that SQL text reads as (name parts, is stream); none for invalid SQL."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        plan = sql_parser(spark).parsePlan(sql)
    except (Py4JError, PySparkException):
        return []
    text = plan.treeString()
    found = [
        (tuple(part.strip() for part in name.split(",")), streaming == "true")
        for name, streaming in _UNRESOLVED.findall(text)
    ]
    for name in _CHANGED.findall(text):
        with suppress(ValueError):
            found.append((split_name(name), False))
    return found


def class_name(java: JavaObject) -> str:
    """Return the simple class name of a JVM object."""
    return str(java.getClass().getSimpleName()).rstrip("$")


def source_nodes(df: DataFrame) -> list[JavaObject]:
    """Return the leaf nodes of a query's plan, including those of subqueries."""
    analyzed = analyzed_plan(df)
    plans = [analyzed, *scala_list(analyzed.subqueriesAll())]
    return [leaf for plan in plans for leaf in scala_list(plan.collectLeaves())]


def plan_text(df: DataFrame) -> str:
    """Return the analyzed plan as text, complete and without ids that differ from run to run."""
    analyzed = analyzed_plan(df)
    return _IDS.sub("#", analyzed.treeString(True, False, _MAX_FIELDS, False, False))


def observed_names(df: DataFrame) -> set[str]:
    """Return the names under which a query's plan observes metrics."""
    return set(_OBSERVED.findall(analyzed_plan(df).treeString(False, False, _MAX_FIELDS, False, False)))


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


_log = logging.getLogger("lakeward.pipelines")
SourceColumn = tuple[str, str]
"""A table and one of its columns."""
_Sources = dict[int, frozenset[SourceColumn]]


def column_lineage(query: DataFrame) -> dict[str, list[SourceColumn]]:
    """Return the source columns of each output column, in the order of the columns.

    Views are resolved to the tables that they read. Conditions of filters and joins are not sources: they
    choose rows. Columns of files and of generated rows have no table, so they are left out. Empty for a plan
    that cannot be described: lineage is for reports, and fails no update.
    """
    try:
        return _column_lineage(query)
    except Exception as error:  # noqa: BLE001  # whatever is in the plan, the query itself is valid
        _log.warning("The column lineage of a query is unknown: %s", error)
        return {}


def _column_lineage(query: DataFrame) -> dict[str, list[SourceColumn]]:
    jvm = jvm_view(query.sparkSession)
    plan = jvm.org.apache.spark.sql.catalyst.optimizer.InlineCTE(True, False).apply(analyzed_plan(query))
    root = json.loads(jvm.lakeward.ViewPlan.describe(plan))
    sources = _sources(root, None)
    found: dict[str, list[SourceColumn]] = {}
    for column in root["output"]:
        found[column["name"]] = sorted(sources.get(column["id"], ()))
    return found


def _sources(node: dict[str, Any], table: str | None) -> _Sources:
    """Return the source columns by attribute; `table` is the name of the relation right below an alias."""
    children = node["children"]
    if not children:
        return {each["id"]: frozenset(((table, each["name"]),) if table else ()) for each in node["output"]}
    # The lowest alias above a relation is the table's own name.
    name = ".".join(node["alias"]) if "alias" in node else None
    below = [_sources(child, name) for child in children]
    known: _Sources = {}
    for each in (*below, *(_sources(plan, None) for plan in node.get("subqueries", ()))):
        known.update(each)
    for item in node["derived"]:
        known[item["id"]] = _union(known, item["references"]) | _of_subqueries(item)
    if node["name"] == "Union":
        # It has the attributes of its first child.
        columns = zip(*(child["output"] for child in children), strict=True)
        for output, merged in zip(node["output"], columns, strict=True):
            parts = (each.get(column["id"], frozenset()) for each, column in zip(below, merged, strict=True))
            known[output["id"]] = frozenset().union(*parts)
    for output in node["output"]:
        if output["id"] not in known:
            # A generator, or a function of whole rows.
            inputs = node["references"] or [each["id"] for child in children for each in child["output"]]
            known[output["id"]] = _union(known, inputs)
    return known


def _of_subqueries(item: dict[str, Any]) -> frozenset[SourceColumn]:
    found: frozenset[SourceColumn] = frozenset()
    for plan in item.get("subqueries", ()):
        found |= _union(_sources(plan, None), _ids(plan))
    return found


def _ids(plan: dict[str, Any]) -> Iterator[int]:
    return (each["id"] for each in plan["output"])


def _union(known: _Sources, columns: Iterable[int]) -> frozenset[SourceColumn]:
    return frozenset().union(*(known.get(column, frozenset()) for column in columns))


_MOST = 20
_TAGS = "spark.job.tags"


class OperatorTimes:
    """Marks the queries of each dataset with a job tag, and finds their slowest operators by it.

    Streams and threads inherit the tag of the thread that starts them. Spark keeps the newest 1,000 queries
    (`spark.sql.ui.retainedExecutions`); earlier ones are not counted.
    """

    def __init__(self, spark: SparkSession, update_id: str) -> None:
        self._spark, self._prefix = spark, f"lakeward-{update_id}-"
        self._datasets: list[Key] = []
        self._current: Key | None = None
        self._users_tags: str | None = spark.sparkContext.getLocalProperty(_TAGS)

    def enter(self, dataset: Key) -> None:
        """Mark the queries that this thread starts from now on."""
        if dataset == self._current:
            return
        self._current = dataset
        if dataset not in self._datasets:
            self._datasets.append(dataset)
        tag = f"{self._prefix}{self._datasets.index(dataset)}"
        tags = f"{self._users_tags},{tag}" if self._users_tags else tag
        self._spark.sparkContext.setLocalProperty(_TAGS, tags)

    def leave(self) -> None:
        """Restore the thread's own tags: the update has ended, or was interrupted."""
        self._current = None
        self._spark.sparkContext.setLocalProperty(_TAGS, self._users_tags)  # type: ignore[arg-type]

    def slowest(self) -> list[dict[str, Any]]:
        """Return the slowest operators, the slowest first.

        Each has `dataset`, `operator`, `milliseconds` summed over tasks and queries, the number of `queries`,
        and where the operator counts them `rows`, `read_bytes`, `shuffled_bytes` and `spilled_bytes`.
        Empty if Spark's metrics cannot be read: the tables of the update are complete.
        """
        try:
            times = jvm_view(self._spark).lakeward.OperatorTimes
            found = json.loads(times.slowest(java_session(self._spark), self._prefix, _MOST))
        except Exception as error:  # noqa: BLE001  # as above
            _log.warning("The metrics of the update's queries cannot be read: %s", error)
            return []
        for each in found:
            each["dataset"] = ".".join(self._datasets[int(each.pop("tag").removeprefix(self._prefix))])
        return list(found)
