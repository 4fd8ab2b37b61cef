"""The choice among the techniques that can refresh a view after certain changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.incremental.aggregate_merge import merge_expressions
from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.eligibility import Eligibility
from lakeward.pipelines.incremental.refresh_plan import (
    Issue,
    MaintenanceType,
    RefreshPlan,
    Technique,
    recompute,
)
from lakeward.pipelines.incremental.row_groups import KEYED, uppermost_keyed
from lakeward.pipelines.incremental.view_plan import PlanNode, ViewPlan

if TYPE_CHECKING:
    from lakeward.pipelines.storage.delta_tables import DeltaCommit

# Most updates read the newest commits alone: reading one costs milliseconds.
_NEWEST_COMMITS, _PAST_COMMITS = 3, 20
# Shorter differences are those of a busy machine.
_MIN_SECONDS_SAVED = 20.0
# Tables of a few rows are read and written in the time of one job: their sizes decide nothing.
_MIN_BYTES_SAVED = 64 << 10
SMALL_BYTES = 32 << 20
"""Inputs of this size are computed again where one row may change them all: it is not looked at first."""
# Of these Delta's statistics have the least and the greatest value, not cut off.
_EXACT_STATISTICS = ("byte", "short", "integer", "long", "float", "double", "date")


def choose_technique(
    view: ViewPlan,
    eligibility: Eligibility,
    changes: list[ChangeSet],
    size: int,
    dataset: Dataset,
    *,
    moves: bool,
    commits: Callable[[], Iterable[DeltaCommit]] = tuple,
) -> RefreshPlan:
    """Choose among the applicable techniques the one with the least cost.

    Args:
        view: The view's plan.
        eligibility: Its eligibility.
        changes: The changes of its sources.
        size: Bytes of its table.
        dataset: The view.
        moves: Whether time changes rows.
        commits: Reads the commits of its table, newest first: a recomputation that was faster is preferred.
    """
    changes = _without_statistics(view, changes)
    whole = Technique("COMPLETE_RECOMPUTE", estimate("COMPLETE_RECOMPUTE", changes, size))
    if not moves and all(change.kind == "NO_CHANGE" for change in changes):
        return RefreshPlan("NO_OP", [Technique("NO_OP", 0.0), whole])
    appends = not moves and all(change.kind in ("NO_CHANGE", "APPENDED") for change in changes)
    possible, issues = possible_techniques(
        view, eligibility, appends=appends, has_expectations=bool(dataset.expectations)
    )
    if not possible:
        return recompute(*issues, cost=whole.cost)
    rescanned = _rescanned_bytes(view, changes)
    techniques = [
        Technique(each, estimate(_paid_as(each, eligibility), changes, size, rescanned)) for each in possible
    ]
    best = min(techniques, key=lambda each: each.cost or 0.0)
    text = _advantage_of_recomputation(best, whole, commits)
    if not text or dataset.options.refresh_policy != "auto":
        return RefreshPlan(best.type, [*techniques, whole])
    rejected = Issue("INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL", text)
    whole = Technique("COMPLETE_RECOMPUTE", whole.cost, (rejected,))
    return RefreshPlan("COMPLETE_RECOMPUTE", [*techniques, whole])


def _advantage_of_recomputation(
    best: Technique, whole: Technique, commits: Callable[[], Iterable[DeltaCommit]]
) -> str:
    """Return why a recomputation is cheaper than the best other technique, "" where it is not."""
    long = expected_seconds(best.type, best.cost, islice(commits(), _NEWEST_COMMITS))
    short = None
    if long is not None and long > _MIN_SECONDS_SAVED:
        short = expected_seconds(whole.type, whole.cost, islice(commits(), _PAST_COMMITS))
    if long is not None and short is not None and long > short + _MIN_SECONDS_SAVED:
        return f"By past runs {best.type} would take {long:.0f} seconds, a recomputation {short:.0f}."
    if (best.cost or 0.0) > (whole.cost or 0.0) + _MIN_BYTES_SAVED:
        return (
            f"So much changed that {best.type} would cost more ({best.cost:.0f} of {whole.cost:.0f} bytes)."
        )
    return ""


def _rescanned_bytes(view: ViewPlan, changes: list[ChangeSet]) -> float:
    """Return what has to be read again for aggregates without GROUP BY.

    One that the view consists of costs more than a recomputation, which reads its input once. Another one may
    change all rows of the view, for which its other inputs are read now and before.
    """
    sizes = {id(leaf): change.total for leaf, change in zip(view.sources, changes, strict=True)}
    changed = {
        id(leaf) for leaf, change in zip(view.sources, changes, strict=True) if change.kind != "NO_CHANGE"
    }
    uppermost, total = uppermost_keyed(view.root), sum(sizes.values())
    rescanned = 0.0
    for node in _single_rows(view):
        leaves = {id(leaf) for leaf in node.leaves}
        own = sum(sizes.get(leaf, 0) for leaf in leaves)
        rescanned += (3.0 if node is uppermost else 2.0) * own
        if node is not uppermost and leaves & changed and total - own <= SMALL_BYTES:
            rescanned += 3.0 * (total - own)
    return rescanned


def _single_rows(view: ViewPlan) -> list[PlanNode]:
    return [node for node in view.root.walk() if node.name == "Aggregate" and not node.keys]


def _without_statistics(view: ViewPlan, changes: list[ChangeSet]) -> list[ChangeSet]:
    """Leave out the bytes of sources whose least and greatest values alone are needed: the log has them."""
    known = set()
    for node in _single_rows(view):
        simple = all(
            each.class_name in ("Min", "Max")
            and not each.filtered
            and set(each.types) <= {*_EXACT_STATISTICS}
            for each in node.functions
        )
        below = node.children[0]
        while below.name == "Project":
            below = below.children[0]
        if simple and not below.children:
            known.add(id(below))
    return [
        replace(change, bytes=0, total=0) if id(leaf) in known else change
        for leaf, change in zip(view.sources, changes, strict=True)
    ]


def possible_techniques(
    view: ViewPlan, eligibility: Eligibility, *, appends: bool, has_expectations: bool
) -> tuple[list[MaintenanceType], list[Issue]]:
    """Return the techniques of an eligible view, or why there are none.

    Args:
        view: The view's plan.
        eligibility: Its eligibility.
        appends: Whether rows were only added to the sources.
        has_expectations: Whether the view has expectations.
    """
    found: list[MaintenanceType] = []
    top = eligibility.top
    if not has_expectations and top is not None and merges_added_rows(view.root, eligibility):
        adds = appends and _only_adds(top.children[0])
        found += ["GROUP_AGGREGATE"] if adds or _merges_removed_rows(top, eligibility) else []
    if eligibility.groups is not None:
        is_window = eligibility.groups.top.name == "Window"
        found.append("WINDOW_FUNCTION" if is_window else "GENERIC_AGGREGATE")
    if eligibility.partitions is not None:
        found.append("PARTITION_OVERWRITE")
    if found:
        return found, []
    if appends and _only_adds(view.root):
        return ["APPEND_ONLY"], []
    inexact = [c.name for c in view.root.output if not (c.is_exact_key or c.is_float)]
    if inexact:
        text = f"Rows change, and values of `{inexact[0]}` cannot be compared exactly."
        return [], [Issue("MAP_TYPE_NOT_SUPPORTED", text)]
    return ["ROW_BASED"], []


def merges_added_rows(root: PlanNode, eligibility: Eligibility) -> bool:
    """Return whether the aggregates of rows that are added can be merged into those that the view stores."""
    top, groups = eligibility.top, eligibility.groups
    if top is None or top.name != "Aggregate":
        return False
    if top.keys and (groups is None or not groups.is_whole):
        return False
    return merge_expressions(root, top, groups.columns if groups is not None else ()) is not None


def _merges_removed_rows(top: PlanNode, eligibility: Eligibility) -> bool:
    """Return whether removed rows can be merged, too, of a view to which added rows can be."""
    groups = eligibility.groups
    return bool(top.functions) and (groups is None or groups.base is top)


def _paid_as(technique: MaintenanceType, eligibility: Eligibility) -> MaintenanceType:
    """Return the technique that costs the same: changed rows below another group operator are computed."""
    top = eligibility.top
    linear = top is None or _only_adds(top.children[0])
    return technique if technique != "GROUP_AGGREGATE" or linear else "GENERIC_AGGREGATE"


def _only_adds(node: PlanNode) -> bool:
    """Return whether rows that are added to the sources only add rows to the operator's result."""
    nodes = list(node.walk())
    return all(
        each.name not in KEYED and (each.name != "Join" or each.join in ("INNER", "CROSS")) for each in nodes
    )


# The commit of an update records technique, cost and start. The seconds up to the commit are what a byte of
# the technique's cost took.
_KEY = "lakeward.refresh"
# A recomputation joins, groups and writes every row that it reads; other techniques filter most of them.
_RECOMPUTED = 3.0


def estimate(
    technique: MaintenanceType, changes: Sequence[ChangeSet], view_bytes: int, rescanned: float = 0.0
) -> float:
    """Return the cost of a technique, in bytes of files, for these changes and a view of this size.

    `rescanned` are the bytes that aggregates without GROUP BY read to compute their row now and before.
    """
    total = float(sum(change.total for change in changes))
    if technique == "NO_OP":
        return 0.0
    if technique == "COMPLETE_RECOMPUTE":
        return _RECOMPUTED * total + view_bytes
    changed = float(sum(change.bytes for change in changes if change.kind != "NO_CHANGE"))
    if technique == "PARTITION_OVERWRITE":
        # Every changed file may belong to partitions of its own; all groups of a partition are computed.
        share = changed / max(total, changed, 1.0)
        return total + changed + share * (view_bytes + total) + rescanned
    if technique in ("GENERIC_AGGREGATE", "WINDOW_FUNCTION"):
        return total + changed + view_bytes + rescanned
    joined = float(sum(change.total for change in changes if change.kind == "NO_CHANGE"))
    if technique == "ROW_BASED":
        changed += rescanned
    return joined + changed + (0 if technique == "APPEND_ONLY" else view_bytes)


def add_start(metadata: str, plan: RefreshPlan, seconds: float) -> str:
    """Return the user metadata of a commit with the technique and the time at which it started."""
    cost = next((each.cost for each in plan.techniques if each.type == plan.chosen), None)
    return json.dumps({**json.loads(metadata), _KEY: [plan.chosen, cost, seconds]})


def expected_seconds(
    technique: MaintenanceType, cost: float | None, commits: Iterable[DeltaCommit]
) -> float | None:
    """Return how long a technique will take, None if none of these commits used it."""
    rates = []
    for commit in commits:
        try:
            used, paid, started = json.loads(commit.user_metadata or "{}")[_KEY]
        except (ValueError, KeyError, TypeError):
            continue
        if used == technique and paid:
            rates.append((commit.info["timestamp"] / 1000 - started) / paid)
    return median(rates) * (cost or 0.0) if rates else None
