"""Which groups of a view's rows can be replaced, and which windows can be given an order without ties."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.pipelines.incremental import technique_choice, view_plan
from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.eligibility import check_eligibility
from lakeward.pipelines.incremental.refresh_plan import MaintenanceType, RefreshPlan, Technique
from lakeward.pipelines.incremental.reproducibility import can_break_ties, is_reproducible, least_row_columns
from lakeward.pipelines.incremental.row_groups import possible_groups
from lakeward.pipelines.incremental.technique_choice import add_start, estimate, possible_techniques
from lakeward.pipelines.incremental.view_plan import (
    CalledFunction,
    NotableExpression,
    PlanColumn,
    PlanItem,
    PlanNode,
    ViewPlan,
)
from lakeward.pipelines.storage.delta_tables import DeltaCommit

TODAY = NotableExpression("function", "CurrentDate", "current_date", deterministic=True, per_run=True, line=1)
MAP = {"type": "map", "keyType": "string", "valueType": "string", "valueContainsNull": True}
NUMBERED = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


def function(name: str, *types: object, frame: str = "") -> CalledFunction:
    return CalledFunction(name, name.lower(), types, frame=frame)


def node(
    name: str,
    columns: dict[int, object],
    *children: PlanNode,
    keys: tuple[int | None, ...] = (),
    items: tuple[PlanItem, ...] = (),
    functions: tuple[CalledFunction, ...] = (),
    notable: tuple[NotableExpression, ...] = (),
) -> PlanNode:
    output = tuple(PlanColumn(number, f"c{number}", kind) for number, kind in columns.items())
    made = PlanNode(None, name, 1, output, frozenset(), (), functions, notable, children, items)
    made.keys = tuple((key, "integer") for key in keys)
    made.required = frozenset(columns)
    return made


TABLE = node("LogicalRelation", {1: "integer", 2: "integer", 3: "string"})


def counted(child: PlanNode, *keys: int) -> PlanNode:
    """GROUP BY the attributes `keys`, which keep their identifiers, and count into 9."""
    items = tuple(PlanItem(key, key, number, None) for number, key in enumerate(keys))
    columns = {**dict.fromkeys(keys, "integer"), 9: "long"}
    return node("Aggregate", columns, child, keys=keys, items=items)


def selected(child: PlanNode, **passed: int) -> PlanNode:
    """SELECT attributes under new identifiers: `_11=1`."""
    items = tuple(PlanItem(int(new[1:]), old, None, None) for new, old in passed.items())
    return node("Project", {item.id: "integer" for item in items}, child, items=items)


def found(root: PlanNode) -> list[tuple[tuple[int, ...], tuple[int, ...], bool, int]]:
    return [(each.columns, each.keys, each.is_whole, len(each.operators)) for each in possible_groups(root)]


def test_all_keys_in_the_view_are_its_groups() -> None:
    assert found(counted(TABLE, 1, 2)) == [((0, 1), (0, 1), True, 1)]
    assert found(selected(counted(TABLE, 1, 2), _11=2, _12=9, _13=1)) == [((0, 2), (1, 0), True, 1)]


def test_some_of_the_keys_are_larger_groups_and_none_are_no_groups() -> None:
    assert found(selected(counted(TABLE, 1, 2), _11=2, _12=9)) == [((0,), (1,), False, 1)]
    assert found(selected(counted(TABLE, 1, 2), _12=9)) == []


def test_operators_with_the_same_keys_are_replaced_together() -> None:
    lower = node("Window", {1: "integer", 2: "integer", 3: "string", 4: "long"}, TABLE, keys=(1, 2))
    upper = node("Window", {**{c.id: c.type for c in lower.output}, 5: "integer"}, lower, keys=(2, 1))
    kept = node("Filter", {c.id: c.type for c in upper.output}, upper)
    (groups,) = possible_groups(kept)
    assert (groups.top, groups.base, groups.columns, groups.keys) == (upper, lower, (0, 1), (0, 1))
    # One with some of the keys gives a further choice.
    deduplicated = node("Deduplicate", {1: "integer", 2: "integer", 3: "string"}, TABLE, keys=(1,))
    top = counted(deduplicated, 1, 2)
    assert found(top) == [((0, 1), (0, 1), True, 1), ((0,), (0,), False, 2)]


def test_joins_and_filters_by_date_end_the_groups() -> None:
    by_date = node("Filter", {1: "integer", 2: "integer", 9: "long"}, counted(TABLE, 1, 2), notable=(TODAY,))
    assert possible_groups(by_date) == []
    below = node("Filter", {1: "integer", 2: "integer", 3: "string"}, TABLE, notable=(TODAY,))
    assert found(counted(below, 1)) == [((0,), (0,), True, 1)]
    joined = node("Join", {1: "integer", 2: "integer", 9: "long"}, counted(TABLE, 1, 2), TABLE)
    assert possible_groups(joined) == []


COUNT, AVERAGE = function("Count", "string"), function("Average", "double")


@pytest.mark.parametrize(
    ("keys", "passed", "functions", "technique"),
    [
        ((1, 2), {"_11": 1, "_12": 2, "_19": 9}, (COUNT,), "GROUP_AGGREGATE"),
        # Several groups share a key of the view, or have none in it.
        ((1, 2), {"_11": 1, "_19": 9}, (COUNT, AVERAGE), "GENERIC_AGGREGATE"),
        ((1, 2), {"_11": 1, "_19": 9}, (COUNT,), "ROW_BASED"),
        ((1,), {"_19": 9}, (COUNT,), "ROW_BASED"),
        ((), {"_19": 9}, (COUNT,), "GROUP_AGGREGATE"),
    ],
)
def test_aggregates_of_new_rows_are_merged_into_groups_that_the_view_can_tell_apart(
    keys: tuple[int, ...],
    passed: dict[str, int],
    functions: tuple[CalledFunction, ...],
    technique: str,
) -> None:
    grouped = counted(node("LocalRelation", {1: "integer", 2: "integer", 3: "string"}), *keys)
    grouped.items = (*grouped.items, PlanItem(9, None, None, COUNT))
    grouped.functions = functions
    plan = ViewPlan(selected(grouped, **passed), "")
    eligibility = check_eligibility(plan)
    assert eligibility.is_eligible
    found, _ = possible_techniques(plan, eligibility, appends=True, has_expectations=False)
    assert found[0] == technique


@pytest.mark.parametrize(
    ("seconds", "policy", "technique"),
    [
        (100.0, "auto", "COMPLETE_RECOMPUTE"),
        (100.0, "incremental", "GENERIC_AGGREGATE"),
        # 5 seconds are not worth another technique.
        (15.0, "auto", "GENERIC_AGGREGATE"),
    ],
)
def test_a_technique_that_took_longer_than_a_recomputation_is_not_chosen_again(
    seconds: float, policy: str, technique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_plan, "delta_index", lambda _: "index")
    grouped = counted(node("LocalRelation", {1: "integer", 2: "integer"}), 1)
    grouped.functions = (AVERAGE,)
    plan, changes = ViewPlan(grouped, ""), [ChangeSet("CHANGED", None, bytes=10, total=100)]
    dataset: Any = SimpleNamespace(expectations=(), options=SimpleNamespace(refresh_policy=policy))

    def commit(used: MaintenanceType, took: float) -> DeltaCommit:
        done = RefreshPlan(used, [Technique(used, estimate(used, changes, 10))])
        info = {"timestamp": int((1000 + took) * 1000), "userMetadata": add_start("{}", done, 1000.0)}
        return DeltaCommit(1, info)

    commits = [DeltaCommit(3, {}), commit("GENERIC_AGGREGATE", seconds), commit("COMPLETE_RECOMPUTE", 10.0)]
    chosen = technique_choice.choose_technique(
        plan, check_eligibility(plan), changes, 10, dataset, moves=False, commits=lambda: commits
    )
    assert chosen.chosen == technique
    reasons = ["INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL"] if technique == "COMPLETE_RECOMPUTE" else []
    assert [issue.type for issue in chosen.issues] == reasons


TINY, SMALL, LARGE = 1_000, 1 << 20, technique_choice.SMALL_BYTES + 1


@pytest.mark.parametrize(
    ("called", "people", "changed", "policy", "technique"),
    [
        ("date", SMALL, "second", "auto", "COMPLETE_RECOMPUTE"),
        ("date", SMALL, "second", "incremental", "ROW_BASED"),
        # A few kilobytes are no reason.
        ("date", TINY, "second", "auto", "ROW_BASED"),
        # The row is the same as before.
        ("date", SMALL, "first", "auto", "ROW_BASED"),
        # Looking at the row first may save reading these.
        ("date", LARGE, "second", "auto", "ROW_BASED"),
        # Delta's statistics have the beginnings of texts: the source is read in any case.
        ("string", SMALL, "second", "auto", "ROW_BASED"),
    ],
)
def test_a_row_that_may_change_all_others_is_not_compared_for_small_inputs(
    called: str, people: int, changed: str, policy: str, technique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People with the newest day of many events: the day is in Delta's log, and moves every day."""
    monkeypatch.setattr(view_plan, "delta_index", lambda _: "index")
    newest = node("Aggregate", {9: "date"}, node("LocalRelation", {8: "date"}))
    newest.functions = (function("Max", called),)
    joined = node("Join", {1: "integer", 9: "date"}, node("LocalRelation", {1: "integer"}), newest)
    joined.join = "CROSS"
    changes = [
        ChangeSet("CHANGED" if changed == name else "NO_CHANGE", None, bytes=size // 100, total=size)
        for name, size in (("first", people), ("second", 10_000_000))
    ]
    plan = ViewPlan(joined, "")
    dataset: Any = SimpleNamespace(expectations=(), options=SimpleNamespace(refresh_policy=policy))
    chosen = technique_choice.choose_technique(
        plan, check_eligibility(plan), changes, SMALL, dataset, moves=False
    )
    assert chosen.chosen == technique


@pytest.mark.parametrize(
    ("called", "plain", "ordered"),
    [
        (function("Count", "string"), True, True),
        (function("Sum", "long"), True, True),
        (function("Sum", "double"), False, False),
        (function("Average", "decimal(10,2)"), True, True),
        (function("Average", "long"), False, False),
        (function("Max", MAP), False, False),
        (function("Rank", frame=NUMBERED), True, True),
        (function("RowNumber", frame=NUMBERED), False, True),
        (function("Lag", "double", frame="ROWS BETWEEN -1 FOLLOWING AND -1 FOLLOWING"), False, True),
        (function("Sum", "long", frame=NUMBERED), False, True),
        (function("Sum", "long", frame=NUMBERED.replace("ROWS", "RANGE")), True, True),
        (function("First", "long"), False, False),
    ],
)
def test_a_function_is_reproducible_alone_or_once_rows_have_an_order(
    called: CalledFunction, plain: bool, ordered: bool
) -> None:
    assert is_reproducible(called) is plain
    assert is_reproducible(called, ordered=True) is ordered


@pytest.mark.parametrize(
    ("functions", "kind", "possible"),
    [
        ((function("RowNumber", frame=NUMBERED),), "string", True),
        ((function("RowNumber", frame=NUMBERED),), "double", True),
        ((function("RowNumber", frame=NUMBERED),), MAP, False),
        # Both have one order: another one would change the ranks.
        ((function("RowNumber", frame=NUMBERED), function("Rank", frame=NUMBERED)), "string", False),
        ((function("RowNumber", frame=NUMBERED), function("Sum", "long", frame="RANGE …")), "string", False),
    ],
)
def test_ties_are_broken_by_columns_that_can_be_compared(
    functions: tuple[CalledFunction, ...], kind: object, possible: bool
) -> None:
    table = node("LogicalRelation", {1: "integer", 2: kind})
    assert can_break_ties(node("Window", {1: "integer", 2: kind}, table, functions=functions)) is possible


def test_drop_duplicates_chooses_by_the_other_columns_that_the_view_uses() -> None:
    table = node("LogicalRelation", {1: "integer", 2: "string", 3: MAP, 4: "double"})
    deduplicated = node("Deduplicate", {c.id: c.type for c in table.output}, table, keys=(1,))
    assert least_row_columns(deduplicated) is None
    table.required = frozenset((1, 2, 4))
    assert least_row_columns(deduplicated) == [1, 3]
    table.required = frozenset((1,))
    assert least_row_columns(deduplicated) == []
