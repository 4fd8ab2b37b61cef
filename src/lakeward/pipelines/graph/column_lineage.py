"""Column lineage: which columns of which tables each column of a query is computed from."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import analyzed_plan, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("lakeward.pipelines")
SourceColumn = tuple[str, str]
"""A table and one of its columns."""
_Sources = dict[int, frozenset[SourceColumn]]


def column_lineage(query: DataFrame) -> dict[str, list[SourceColumn]]:
    """Return the source columns of each output column, in the order of the columns.

    Views are resolved to the tables that they read. Conditions of filters and joins are no sources: they
    choose rows. Columns of files and of generated rows have no table, so they are left out. Empty for a plan
    that cannot be described: lineage is for reports, and fails no update.
    """
    try:
        return _column_lineage(query)
    except Exception as error:  # noqa: BLE001  # whatever is in the plan, the query itself is valid
        log.warning("The column lineage of a query is unknown: %s", error)
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
