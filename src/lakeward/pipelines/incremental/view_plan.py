"""The operators of a view's query, read once from Spark's analyzed plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.query_plans import class_name
from lakeward.spark_internals import JavaObject, analyzed_plan, java_session, jvm_view, scala_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TypeJson = str | dict[str, Any]
"""Spark's JSON of a data type: its name, or an object for a nested type."""
_ATTRIBUTE = re.compile(r"#(\d+)")
_PER_PLAN = re.compile(r"lakeward_\d+|(?<=\]), \d+$|\[plan_id=\d+\]", re.MULTILINE)
TIME_EXPRESSIONS = frozenset(("CurrentDate", "CurrentTimestamp", "Now", "LocalTimestamp"))
"""Expressions that have one value per update."""
_MAX_FIELDS = 2_147_483_647
# Rules that turn EXCEPT and INTERSECT into joins and groupings.
_SET_OPERATORS = (
    "ReplaceIntersectWithSemiJoin",
    "ReplaceExceptWithAntiJoin",
    "RewriteExceptAll",
    "RewriteIntersectAll",
)


@dataclass(frozen=True)
class PlanColumn:
    """An output column of an operator; `type` is Spark's JSON of its data type."""

    id: int
    name: str
    type: TypeJson

    @property
    def is_float(self) -> bool:
        return self.type in ("float", "double")

    @property
    def is_exact_key(self) -> bool:
        """Return whether equal values of the type are the same value, also as parts of nested ones."""
        return is_exact_key(self.type)


def is_exact_key(data_type: TypeJson) -> bool:
    """Return whether rows can be grouped by the type, and equal values of it are identical.

    It is false for maps and variants, which cannot be grouped by; for nested floats, of which -0.0 and 0.0
    are equal; and for collated strings.
    """
    if isinstance(data_type, str):
        return data_type not in ("variant", "float", "double") and not data_type.startswith(
            ("geography", "geometry", "string collate")
        )
    kind = data_type.get("type")
    if kind == "array":
        return is_exact_key(data_type["elementType"])
    if kind == "struct":
        return all(
            is_exact_key(each["type"]) and "__COLLATIONS" not in each.get("metadata", {})
            for each in data_type["fields"]
        )
    return False


@dataclass(frozen=True)
class NotableExpression:
    """A subquery, a user's function, or an expression whose value differs between runs."""

    kind: str
    class_name: str
    name: str
    deterministic: bool
    per_run: bool
    line: int | None


@dataclass(frozen=True)
class CalledFunction:
    """An aggregate or window function with the types of its arguments; `frame` only in windows.

    `counts_rows` is true for `count(*)` and for the count of a column that is never NULL.
    """

    class_name: str
    name: str
    types: tuple[TypeJson, ...]
    distinct: bool = False
    filtered: bool = False
    frame: str = ""
    counts_rows: bool = False


@dataclass(frozen=True)
class PlanItem:
    """A computed column: `of` is the attribute that it passes on, `key` the grouping key that it is."""

    id: int
    of: int | None
    key: int | None
    aggregate: CalledFunction | None


@dataclass
class PlanNode:
    """An operator: `java` is Spark's own, `name` its class.

    `keys` are its grouping or partition keys as (attribute or None, type); `pairs` counts the equalities
    between the sides of a join.
    """

    java: JavaObject
    name: str
    line: int | None
    output: tuple[PlanColumn, ...]
    references: frozenset[int]
    literals: tuple[str, ...]
    functions: tuple[CalledFunction, ...]
    notable: tuple[NotableExpression, ...]
    children: tuple[PlanNode, ...]
    items: tuple[PlanItem, ...] = ()
    keys: tuple[tuple[int | None, TypeJson], ...] = ()
    join: str = ""
    pairs: int = 0
    data: str = ""
    required: frozenset[int] = field(default=frozenset())

    def walk(self) -> Iterator[PlanNode]:
        """Yield the operator and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def is_temporal(self) -> bool:
        """Return whether it is a filter whose condition depends on the time of the update."""
        return self.name == "Filter" and any(each.class_name in TIME_EXPRESSIONS for each in self.notable)

    @property
    def leaves(self) -> list[PlanNode]:
        return [node for node in self.walk() if not node.children]

    @property
    def is_delta(self) -> bool:
        """Return whether it reads a Delta table."""
        return delta_index(self) is not None


@dataclass(frozen=True)
class ViewPlan:
    """The plan of a view's query: its root operator, and a text that is equal for equal queries."""

    root: PlanNode
    identity: str

    @property
    def sources(self) -> list[PlanNode]:
        """Return the Delta tables that it reads, once per occurrence."""
        return [leaf for leaf in self.root.leaves if leaf.is_delta]

    @property
    def is_temporal(self) -> bool:
        """Return whether its rows depend on the time of the update."""
        return any(node.is_temporal for node in self.root.walk())

    @property
    def has_opaque_code(self) -> bool:
        """Return whether it calls code that the plan does not contain."""
        return any(each.kind in ("python", "udf") for node in self.root.walk() for each in node.notable)


def read_view_plan(query: DataFrame) -> ViewPlan:
    """Read the plan of a query; common table expressions, views and subqueries in conditions are resolved."""
    spark = query.sparkSession
    analyzed: Any = analyzed_plan(query)
    plan = _normalized(spark, analyzed)
    described = json.loads(jvm_view(spark).lakeward.ViewPlan.describe(plan))
    root = _node(plan, described)
    _set_required(root, frozenset(column.id for column in root.output))
    literals = [text for node in root.walk() for text in (*node.literals, node.data)]
    # Not the analyzed plan itself: it numbers common table expressions differently in every run.
    return ViewPlan(root, json.dumps([_plan_text(plan, root), literals]))


def _normalized(spark: SparkSession, plan: JavaObject) -> JavaObject:
    catalyst = jvm_view(spark).org.apache.spark.sql.catalyst
    rules, analysis = catalyst.optimizer, catalyst.analysis
    plan = rules.InlineCTE(True, False).apply(plan)
    plan = analysis.EliminateView.apply(analysis.EliminateSubqueryAliases.apply(plan))
    plan = rules.PullupCorrelatedPredicates.apply(plan)
    plan = analysis.EliminateSubqueryAliases.apply(rules.RewritePredicateSubquery.apply(plan))
    for rule in _SET_OPERATORS:
        plan = getattr(rules, rule).apply(plan)
    plan = rules.ReplaceDistinctWithAggregate.apply(plan)
    return jvm_view(spark).lakeward.PlanRewrites.distinctAsAggregates(plan)


def _plan_text(plan: JavaObject, root: PlanNode) -> str:
    """Return the plan as text: no unused columns of sources, attributes numbered as they appear."""
    text = _PER_PLAN.sub("", plan.treeString(True, False, _MAX_FIELDS, False, False))
    for leaf in root.leaves:
        unused = [column for column in leaf.output if column.id not in leaf.required]
        for column in unused if leaf.is_delta else ():
            attribute = rf"{re.escape(column.name)}#{column.id}L?(?!\d)"
            text = re.sub(rf",{attribute}|{attribute},?", "", text)
    numbers: dict[str, int] = {}
    return _ATTRIBUTE.sub(lambda found: f"#{numbers.setdefault(found[1], len(numbers))}", text)


def _node(java: JavaObject, about: dict[str, Any]) -> PlanNode:
    children = scala_list(java.children())
    return PlanNode(
        java=java,
        name=class_name(java),
        line=about.get("line"),
        output=tuple(
            PlanColumn(column["id"], column["name"], json.loads(column["type"])) for column in about["output"]
        ),
        references=frozenset(about["references"]),
        literals=tuple(about["literals"]),
        functions=tuple(_function(each) for each in about["functions"]),
        notable=tuple(
            NotableExpression(
                each["kind"],
                each["class"],
                each["name"],
                each["deterministic"],
                each["per_run"],
                each.get("line"),
            )
            for each in about["notable"]
        ),
        children=tuple(_node(child, each) for child, each in zip(children, about["children"], strict=True)),
        items=tuple(
            PlanItem(
                item["id"],
                None if item["of"] < 0 else item["of"],
                None if item["key"] < 0 else item["key"],
                _function(item["aggregate"]) if "aggregate" in item else None,
            )
            for item in about.get("items", ())
        ),
        keys=tuple(
            (None if key["id"] < 0 else key["id"], json.loads(key["type"])) for key in about.get("keys", ())
        ),
        join=about.get("join", ""),
        pairs=about.get("pairs", 0),
        data=about.get("data", ""),
    )


def _function(about: dict[str, Any]) -> CalledFunction:
    return CalledFunction(
        about["class"],
        about["name"],
        tuple(json.loads(each) for each in about["types"]),
        about.get("distinct", False),
        about.get("filtered", False),
        about.get("frame", ""),
        about.get("counts_rows", False),
    )


# Operators that use only the columns that their expressions refer to, and pass on or drop the others.
_BY_REFERENCE = frozenset(
    (
        *("Project", "Aggregate", "Filter", "Join", "Window", "Sort", "Generate", "Expand", "Deduplicate"),
        "RepartitionByExpression",
    )
)


def _set_required(node: PlanNode, wanted: frozenset[int]) -> None:
    """Record for every operator which of its columns the view depends on."""
    node.required = wanted
    used = wanted | node.references
    for child in node.children:
        columns = frozenset(column.id for column in child.output)
        if node.name in ("Project", "Aggregate"):
            _set_required(child, columns & node.references)
        elif node.name in _BY_REFERENCE:
            _set_required(child, columns & used)
        else:
            _set_required(child, columns)


def delta_index(node: PlanNode) -> JavaObject:
    """Return Delta's file index of a relation, None for everything else."""
    from py4j.protocol import Py4JError

    if node.name != "LogicalRelation":
        return None
    try:
        index = node.java.relation().location()
    except Py4JError:
        return None
    return index if class_name(index) == "TahoeLogFileIndex" else None


def frame_of(spark: SparkSession, plan: JavaObject) -> DataFrame:
    """Return a DataFrame of a plan that Spark analyzes again."""
    from lakeward.spark_internals import frame_from_java

    return frame_from_java(jvm_view(spark).lakeward.ViewPlan.frame(java_session(spark), plan), spark)
