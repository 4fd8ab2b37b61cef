"""Decides from its plan alone whether a view can be refreshed incrementally, and why not.

A view is eligible if every operator is one of `delta_rules`, every expression is deterministic, and every
operator whose former result has to be computed again gives the same rows each time: at most the uppermost
groupings and windows, whose affected groups are replaced as a whole, may choose among equal rows
(`row_number()` with ties, sums of floats).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lakeward.pipelines.graph.elements import TableOptions
from lakeward.pipelines.incremental.refresh_plan import Issue, nondeterministic, unsupported_operator
from lakeward.pipelines.incremental.reproducibility import can_break_ties, is_reproducible, least_row_columns
from lakeward.pipelines.incremental.row_groups import (
    KEYED,
    LINEAR,
    RowGroups,
    is_usable_key,
    possible_groups,
    uppermost_keyed,
)
from lakeward.pipelines.incremental.view_plan import TIME_EXPRESSIONS, PlanNode, ViewPlan

CONSTANT = frozenset(("OneRowRelation", "LocalRelation", "Range"))
_JOINS = ("INNER", "CROSS", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER", "LEFT SEMI", "LEFT ANTI")
_SYMMETRIC_JOINS = ("INNER", "CROSS")
# Types whose values survive a cast to text and back; an empty text is stored as NULL.
_PARTITION_TYPES = ("byte", "short", "integer", "long", "decimal", "date", "boolean")
_UNSUPPORTED = {
    "GlobalLimit": "LIMIT: which rows remain depends on all of them",
    "LocalLimit": "LIMIT: which rows remain depends on all of them",
    "Offset": "OFFSET: which rows remain depends on all of them",
    "Tail": "which rows remain depends on all of them",
    "Sample": "the sample is drawn in every run",
    "CollectMetrics": "the view reads a view with expectations, which are counted over all rows",
    "Pivot": "PIVOT",
}


@dataclass(frozen=True)
class Eligibility:
    """Whether a view can be refreshed incrementally.

    Attributes:
        issues: Reasons that prevent it.
        top: The grouping, window or deduplication below the projections and filters of the query.
        groups: The groups whose rows are replaced; None for views that add and remove single rows.
        ordered: Windows whose ties have to be broken.
        partitions: Groups that are partitions of the view's table.
    """

    issues: tuple[Issue, ...]
    top: PlanNode | None = None
    groups: RowGroups | None = None
    ordered: tuple[PlanNode, ...] = ()
    partitions: RowGroups | None = None

    @property
    def is_eligible(self) -> bool:
        return not self.issues


def check_eligibility(plan: ViewPlan, options: TableOptions | None = None) -> Eligibility:
    """Check a view's query; `options` adds the reasons that lie in its declaration."""
    groups, ordered, issues = _choose_groups(plan.root)
    issues = [
        *_expression_issues(plan.root),
        *issues,
        *(_declaration_issues(options) if options is not None else ()),
    ]
    partitions = _partition_groups(plan.root, options) if options is not None else None
    return Eligibility(tuple(dict.fromkeys(issues)), uppermost_keyed(plan.root), groups, ordered, partitions)


def _partition_groups(root: PlanNode, options: TableOptions) -> RowGroups | None:
    """Return the largest groups of which each consists of partitions of the view's table."""
    partitioned = {name.lower() for name in options.partition_cols}
    possible = {
        index
        for index, column in enumerate(root.output)
        if column.name.lower() in partitioned and str(column.type).startswith(_PARTITION_TYPES)
    }
    for groups in possible_groups(root):
        at = [number for number, index in enumerate(groups.columns) if index in possible]
        if at and not any(_operator_issues(root, groups.operators, ())):
            columns, keys = ([each[number] for number in at] for each in (groups.columns, groups.keys))
            return replace(groups, columns=tuple(columns), keys=tuple(keys))
    return None


def _choose_groups(root: PlanNode) -> tuple[RowGroups | None, tuple[PlanNode, ...], list[Issue]]:
    """Return the groups to replace, the windows whose ties to break, and the remaining issues.

    Best are the groups of the uppermost operator, then single rows, then larger groups, then all of these
    with an order of rows that the query leaves open.
    """
    possible = possible_groups(root)
    whole = [groups for groups in possible if groups.is_whole]
    choices: list[RowGroups | None] = [*whole, None, *[each for each in possible if not each.is_whole]]
    first = None
    for breaks_ties in (False, True):
        for groups in choices:
            exempt = groups.operators if groups is not None else ()
            ordered = _ordered(root, exempt) if breaks_ties else ()
            issues = list(_operator_issues(root, exempt, ordered))
            if not issues:
                return groups, ordered, issues
            first = first or (groups, (), issues)
    assert first is not None
    return first


def _ordered(root: PlanNode, exempt: Sequence[PlanNode]) -> tuple[PlanNode, ...]:
    return tuple(
        node
        for node in root.walk()
        if node.name == "Window"
        and not any(node is each for each in exempt)
        and not all(is_reproducible(each) for each in node.functions)
        and can_break_ties(node)
    )


def _expression_issues(root: PlanNode) -> Iterator[Issue]:
    for node in root.walk():
        for each in node.notable:
            line = each.line or node.line
            if each.kind == "subquery":
                yield unsupported_operator(
                    node.name,
                    "a scalar subquery, or IN and EXISTS outside of a condition",
                    line=line,
                    sub_type="SUBQUERY_EXPRESSION",
                )
            elif node.is_temporal and each.class_name in TIME_EXPRESSIONS:
                continue
            elif each.per_run:
                yield nondeterministic(node.name, each.name, "TIME_FUNCTION", line=line)
            elif not each.deterministic:
                opaque = each.kind in ("python", "udf")
                sub_type = "USER_DEFINED_FUNCTION" if opaque else "NON_DETERMINISTIC_EXPRESSION"
                yield nondeterministic(node.name, each.name, sub_type, line=line)


def _operator_issues(
    node: PlanNode, exempt: Sequence[PlanNode], ordered: Sequence[PlanNode]
) -> Iterator[Issue]:
    """Yield what prevents the operators; groups of `exempt` are replaced, `ordered` have no ties."""
    for child in node.children:
        yield from _operator_issues(child, exempt, ordered)
    if node.name in LINEAR or node.name in ("Union", *CONSTANT):
        return
    if node.name == "LogicalRelation":
        if not node.is_delta:
            yield Issue("INPUT_NOT_IN_DELTA", "A source is not a Delta table.", operator=node.name)
        return
    if node.name == "Join":
        if node.join not in _JOINS:
            yield unsupported_operator("Join", f"{node.join} joins are not supported", line=node.line)
        elif node.join not in _SYMMETRIC_JOINS and not node.pairs:
            yield unsupported_operator("Join", f"a {node.join} join without an equality", line=node.line)
        return
    if node.name in KEYED:
        yield from _keyed_issues(node, exempt, ordered)
        return
    text = _UNSUPPORTED.get(node.name, "the operator is not supported")
    yield unsupported_operator(node.name, text, line=node.line)


def _keyed_issues(node: PlanNode, exempt: Sequence[PlanNode], ordered: Sequence[PlanNode]) -> Iterator[Issue]:
    if not node.keys and node.name == "Window":
        sub_type = "WINDOW_FUNCTION_WITHOUT_PARTITION_BY"
        yield unsupported_operator(
            node.name, "a window without PARTITION BY", line=node.line, sub_type=sub_type
        )
        return
    if any(not is_usable_key(key_type) for _, key_type in node.keys):
        yield unsupported_operator(node.name, "a key cannot be compared exactly", line=node.line)
    if any(node is each for each in exempt):
        return
    kind = "WINDOW_FUNCTION_NOT_TOP_LEVEL" if node.name == "Window" else "AGGREGATE_NOT_TOP_NODE"
    is_ordered = any(node is each for each in ordered)
    names = [each.name for each in node.functions if not is_reproducible(each, ordered=is_ordered)]
    if node.name == "Deduplicate" and least_row_columns(node) is None:
        names.append("dropDuplicates")
    for name in names:
        yield unsupported_operator(
            node.name,
            f"{name} may give another result for the same rows, and the view contains none of the keys "
            "of this operator, or reads it below another operator; make it a view of its own",
            line=node.line,
            sub_type=kind,
        )


def _declaration_issues(options: TableOptions) -> Iterator[Issue]:
    text = options.schema.upper() if isinstance(options.schema, str) else ""
    if options.row_filter is not None or " MASK " in text:
        yield unsupported_operator("Project", "the view has a row filter or a column mask", line=None)
    if " GENERATED " in text:
        yield unsupported_operator("Project", "the view has generated columns", line=None)
