"""Decides from its plan alone whether a view can be refreshed incrementally, and why not.

A view is eligible if every operator is one of `delta_rules`, every expression is deterministic, and every
operator whose former result has to be computed again gives the same rows each time: at most the uppermost
grouping or window may choose among equal rows (`row_number()` with ties, sums of floats).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.incremental.issues import Issue, nondeterministic, unsupported
from lakeward.pipelines.incremental.view_plan import CalledFunction, PlanNode, ViewPlan, is_exact_key

# Operators whose result for some rows depends on these rows alone.
LINEAR = frozenset(
    ("Project", "Filter", "Generate", "Sort", "Repartition", "RepartitionByExpression", "ResolvedHint")
)
# Operators that compute every group of their keys by itself.
KEYED = frozenset(("Aggregate", "Window"))
CONSTANT = frozenset(("OneRowRelation", "LocalRelation", "Range"))
_JOINS = ("INNER", "CROSS", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER", "LEFT SEMI", "LEFT ANTI")
_SYMMETRIC_JOINS = ("INNER", "CROSS")
_UNSUPPORTED = {
    "GlobalLimit": "LIMIT: which rows remain depends on all of them",
    "LocalLimit": "LIMIT: which rows remain depends on all of them",
    "Offset": "OFFSET: which rows remain depends on all of them",
    "Tail": "which rows remain depends on all of them",
    "Sample": "the sample is drawn in every run",
    "CollectMetrics": "the view reads a view with expectations, which are counted over all rows",
    "Pivot": "PIVOT",
    "Except": "EXCEPT",
    "Intersect": "INTERSECT",
    "Deduplicate": "dropDuplicates with a subset of columns keeps any row of each key",
}
_REPRODUCIBLE = frozenset(
    (*("Count", "Min", "Max", "BitAndAgg", "BitOrAgg", "BitXorAgg", "BoolAnd", "BoolOr", "CountIf"),)
)
# Equal rows get the same value, although Spark computes it row by row.
_RANKS = frozenset(("Rank", "DenseRank", "PercentRank", "CumeDist"))
_EXACT_NUMBERS = ("byte", "short", "integer", "long")


@dataclass(frozen=True)
class Eligibility:
    """Whether a view can be refreshed incrementally.

    Attributes:
        issues: Reasons that prevent it.
        top: The grouping or window whose affected groups are replaced in the view, None for other views.
        key_columns: For each key of `top` the position of the view's column that contains it.
    """

    issues: tuple[Issue, ...]
    top: PlanNode | None = None
    key_columns: tuple[int, ...] = ()

    @property
    def is_eligible(self) -> bool:
        return not self.issues


def check_eligibility(plan: ViewPlan, dataset: Dataset | None = None) -> Eligibility:
    """Check a view's query; `dataset` adds the reasons that lie in its declaration."""
    top, columns = find_top(plan.root)
    issues = [
        *_expression_issues(plan.root),
        *_operator_issues(plan.root, top),
        *(_dataset_issues(dataset) if dataset is not None else ()),
    ]
    return Eligibility(tuple(dict.fromkeys(issues)), top, columns)


def find_top(root: PlanNode) -> tuple[PlanNode | None, tuple[int, ...]]:
    """Return the keyed operator below projections and filters, with the columns of its keys in the view.

    It is None if a key is not a column of the view.
    """
    node, origin = root, {column.id: index for index, column in reversed(list(enumerate(root.output)))}
    while node.name in LINEAR - {"Generate"}:
        if node.name == "Project":
            kept = [(item.of, item.id) for item in node.items if item.of is not None]
            origin = {source: origin[column] for source, column in kept if column in origin}
        node = node.children[0]
    if node.name not in KEYED or not node.keys:
        return None, ()
    found = []
    for number, (attribute, key_type) in enumerate(node.keys):
        if not _is_usable_key(key_type):
            return None, ()
        columns = [item.id for item in node.items if item.key == number]
        at = [origin[each] for each in (*columns, attribute) if each in origin]
        if not at:
            return None, ()
        found.append(at[0])
    return node, tuple(found)


def _is_usable_key(key_type: object) -> bool:
    # Spark groups and joins floats by the same rule: -0.0 is 0.0, and every NaN is one value.
    return key_type in ("float", "double") or is_exact_key(key_type)


def _expression_issues(root: PlanNode) -> Iterator[Issue]:
    for node in root.walk():
        for each in node.notable:
            line = each.line or node.line
            if each.kind == "subquery":
                yield unsupported(
                    node.name,
                    "a scalar subquery, or IN and EXISTS outside of a condition",
                    line=line,
                    sub_type="SUBQUERY_EXPRESSION",
                )
            elif each.per_run:
                yield nondeterministic(node.name, each.name, "TIME_FUNCTION", line=line)
            elif not each.deterministic:
                opaque = each.kind in ("python", "udf")
                sub_type = "USER_DEFINED_FUNCTION" if opaque else "NON_DETERMINISTIC_EXPRESSION"
                yield nondeterministic(node.name, each.name, sub_type, line=line)


def _operator_issues(node: PlanNode, top: PlanNode | None) -> Iterator[Issue]:
    for child in node.children:
        yield from _operator_issues(child, top)
    if node.name in LINEAR or node.name in ("Union", *CONSTANT):
        return
    if node.name == "LogicalRelation":
        if not node.is_delta:
            yield Issue("INPUT_NOT_IN_DELTA", "A source is not a Delta table.", operator=node.name)
        return
    if node.name == "Join":
        if node.join not in _JOINS:
            yield unsupported("Join", f"{node.join} joins are not supported", line=node.line)
        elif node.join not in _SYMMETRIC_JOINS and not node.pairs:
            yield unsupported("Join", f"a {node.join} join without an equality", line=node.line)
        return
    if node.name in KEYED:
        yield from _keyed_issues(node, top)
        return
    text = _UNSUPPORTED.get(node.name, "the operator is not supported")
    yield unsupported(node.name, text, line=node.line)


def _keyed_issues(node: PlanNode, top: PlanNode | None) -> Iterator[Issue]:
    if not node.keys:
        if node.name == "Window":
            text, sub_type = "a window without PARTITION BY", "WINDOW_FUNCTION_WITHOUT_PARTITION_BY"
        else:
            text, sub_type = "an aggregate without GROUP BY", "OPERATOR_NOT_SUPPORTED"
        yield unsupported(node.name, text, line=node.line, sub_type=sub_type)
        return
    if any(not _is_usable_key(key_type) for _, key_type in node.keys):
        yield unsupported(node.name, "a key cannot be compared exactly", line=node.line)
    if node is top:
        return
    kind = "WINDOW_FUNCTION_NOT_TOP_LEVEL" if node.name == "Window" else "AGGREGATE_NOT_TOP_NODE"
    for function in node.functions:
        if not is_reproducible(function):
            yield unsupported(
                node.name,
                f"{function.name} may give another result for the same rows, and the view does not contain "
                "the keys of this operator, or reads it below another operator; make it a view of its own",
                line=node.line,
                sub_type=kind,
            )


def is_reproducible(function: CalledFunction) -> bool:
    """Whether the function gives the same value for the same rows in any order."""
    if function.class_name in _RANKS:
        return True
    frame = function.frame.upper()
    if frame.startswith("ROWS") and not ("UNBOUNDED PRECEDING" in frame and "UNBOUNDED FOLLOWING" in frame):
        return False
    if not all(is_exact_key(each) for each in function.types):
        return False
    if function.class_name == "Sum":
        return all(_is_exact_number(each) for each in function.types)
    if function.class_name == "Average":
        return all(isinstance(each, str) and each.startswith("decimal") for each in function.types)
    return function.class_name in _REPRODUCIBLE


def _is_exact_number(data_type: object) -> bool:
    return data_type in _EXACT_NUMBERS or (isinstance(data_type, str) and data_type.startswith("decimal"))


def _dataset_issues(dataset: Dataset) -> Iterator[Issue]:
    options = dataset.options
    text = options.schema.upper() if isinstance(options.schema, str) else ""
    if options.row_filter is not None or " MASK " in text:
        yield unsupported("Project", "the view has a row filter or a column mask", line=None)
    if " GENERATED " in text:
        yield unsupported("Project", "the view has generated columns", line=None)
