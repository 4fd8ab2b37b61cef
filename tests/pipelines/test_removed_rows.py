"""Aggregates of removed rows are merged into a view's groups where that is exact; other groups are computed.

The oracle is the query on the remaining rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeward.pipelines.incremental import aggregate_merge
from lakeward.pipelines.incremental.aggregate_merge import (
    KEPT,
    SETTLED,
    apply_changed_aggregates,
    changed_aggregates,
    merge_expressions,
)
from lakeward.pipelines.incremental.delta_rules import DeltaRules
from lakeward.pipelines.incremental.row_groups import uppermost_keyed
from lakeward.pipelines.incremental.view_plan import read_view_plan
from lakeward.session import Settings, session
from tests.lanes import sampled
from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import planned, sql_views

pytestmark = pytest.mark.spark

# Each group has at most four rows, each of which is kept, removed, added, or removed and added again.
ROWS = """SELECT g, element_at(array(NULL, -1, 0, 1, 2), 1 + CAST(pmod(xxhash64(g, n, 1), 5) AS INT)) AS v,
    element_at(array('kept', 'kept', 'removed', 'added', 'both'), 1 + CAST(pmod(xxhash64(g, n, 2), 5) AS INT))
    AS fate FROM (SELECT id AS g, explode(sequence(0, CAST(pmod(xxhash64(id), 4) AS INT))) AS n
    FROM range(3000))"""
OLD, ADDED, REMOVED, NOW = (
    f"fate IN ({fates})"
    for fates in (
        "'kept', 'removed', 'both'",
        "'added', 'both'",
        "'removed', 'both'",
        "'kept', 'added', 'both'",
    )
)
TYPES = ("INT", "BIGINT", "DECIMAL(12, 2)", "DECIMAL(27, 10)")
AGGREGATES = {
    "rows": "count(*) AS n",
    "values": "count(v) AS n",
    "positive": "count_if(v > 0) AS n",
    "filtered": "count(*) FILTER (WHERE v > 0) AS n",
    **{f"sum {kind}": f"sum(CAST(v AS {kind})) AS s" for kind in TYPES},
    **{
        f"{name} {kind}": f"{name}(CAST(v AS {kind})) AS m"
        for name in ("min", "max")
        for kind in (*TYPES, "STRING", "DOUBLE", "DATE")
    },
    "some": "sum(v) AS s, min(v) AS a, max(v) AS b, count(*) AS n, count(v) AS c",
}

# One of each way to be certain.
_KEPT = ("rows", "values", "sum DECIMAL(27, 10)", "min DOUBLE", "max BIGINT", "some")


@pytest.fixture(scope="module")
def rows(suite_settings: Settings) -> Iterator[DataFrame]:
    spark = session(suite_settings)
    frame = spark.sql(ROWS).localCheckpoint()
    frame.createOrReplaceGlobalTempView("fates")
    yield frame
    spark.catalog.dropGlobalTempView("fates")


def merged(spark: SparkSession, select: str, keys: tuple[int, ...]) -> DataFrame:
    by = "GROUP BY g" if keys else ""
    query = spark.sql(f"SELECT {select} FROM global_temp.fates {by}")
    plan = read_view_plan(query)
    top = uppermost_keyed(plan.root)
    assert top is not None
    columns = merge_expressions(plan.root, top, keys)
    assert columns is not None
    stored, added, removed = (
        spark.sql(f"SELECT {select} FROM global_temp.fates WHERE {which} {by}")
        for which in (OLD, ADDED, REMOVED)
    )
    changed = changed_aggregates(added, removed, keys)
    return apply_changed_aggregates(stored, changed, keys, columns).localCheckpoint()


def bag(frame: DataFrame) -> Counter[str]:
    return Counter(map(repr, frame.collect()))


@pytest.mark.parametrize("name", sampled(AGGREGATES, *_KEPT))
def test_settled_groups_are_those_of_a_recomputation(spark: SparkSession, rows: DataFrame, name: str) -> None:
    aggregate = AGGREGATES[name].replace("CAST(v AS DATE)", "date_add(DATE'2024-01-01', v)")
    select = f"g, {aggregate}"
    found = merged(spark, select, (0,))
    changed = spark.sql(f"SELECT DISTINCT g FROM global_temp.fates WHERE {ADDED} OR {REMOVED}")
    settled = found.where(SETTLED)
    now = spark.sql(f"SELECT {select} FROM global_temp.fates WHERE {NOW} GROUP BY g")
    # Groups that are left out are those of a recomputation already.
    stored = spark.sql(f"SELECT {select} FROM global_temp.fates WHERE {OLD} GROUP BY g")
    unchanged = changed.join(found, "g", "left_anti").localCheckpoint()
    assert bag(stored.join(unchanged, "g", "left_semi")) == bag(now.join(unchanged, "g", "left_semi"))
    assert not unchanged.isEmpty()
    assert bag(settled.where(KEPT).drop(SETTLED, KEPT)) == bag(
        now.join(settled.select("g"), "g", "left_semi")
    )
    gone = settled.where(f"NOT {KEPT}").select("g")
    assert gone.join(now, "g", "left_semi").isEmpty()
    # Most groups are settled, and with a count of rows all of them that are gone.
    assert settled.count() + unchanged.count() > changed.count() / 3
    if name == "rows":
        assert settled.count() == found.count()
        assert not gone.isEmpty()


@pytest.mark.parametrize("name", sampled(AGGREGATES, "some"))
def test_without_groups_there_is_one_row(spark: SparkSession, rows: DataFrame, name: str) -> None:
    select = AGGREGATES[name].replace("CAST(v AS DATE)", "date_add(DATE'2024-01-01', v)")
    found = merged(spark, select, ()).collect()
    before, now = (
        spark.sql(f"SELECT {select} FROM global_temp.fates WHERE {which}").collect() for which in (OLD, NOW)
    )
    if not found:
        assert repr(before) == repr(now)
        return
    if found[0][SETTLED]:
        assert repr(tuple(found[0])[:-2]) == repr(tuple(now[0]))
    assert found[0][KEPT]


@pytest.mark.parametrize(
    ("added", "removed", "changed"),
    [(0.0, -0.0, 1), (0.0, 0.0, 0), (float("nan"), float("nan"), 0), (None, None, 0), (None, 0.0, 1)],
)
def test_a_sign_of_zero_is_a_change(
    spark: SparkSession, added: float | None, removed: float | None, changed: int
) -> None:
    sides = [spark.createDataFrame([(1, each)], "g INT, m DOUBLE") for each in (added, removed)]
    assert changed_aggregates(*sides, (0,)).count() == changed


@pytest.mark.parametrize(
    "aggregate",
    ["avg(v)", "count(DISTINCT v)", "sum(CAST(v AS DOUBLE))", "sum(CAST(v AS DECIMAL(28, 10)))", "first(v)"],
)
def test_other_aggregates_are_not_merged(spark: SparkSession, rows: DataFrame, aggregate: str) -> None:
    """Two sums of 38 digits cannot be added without loss of a digit after the point."""
    plan = read_view_plan(spark.sql(f"SELECT g, {aggregate} AS x FROM global_temp.fates GROUP BY g"))
    top = uppermost_keyed(plan.root)
    assert top is not None
    assert merge_expressions(plan.root, top, (0,)) is None


QUERY = "SELECT g, count(*) AS n, sum(v) AS s, max(v) AS m FROM {a} GROUP BY g"
UNCOUNTED = "SELECT g, sum(v) AS s FROM {a} GROUP BY g"
SINGLE = "SELECT count(*) AS n, sum(v) AS s, min(v) AS m FROM {a}"
LARGE = "SELECT g, sum(CAST(v / 3 AS DECIMAL(28, 10))) AS s FROM {a} GROUP BY g"
NAMES = "SELECT g AS s, count(*) AS t, sum(v) AS r FROM {a} GROUP BY g"
# Statements with the groups that have to be computed again, by the view.
CHANGES: dict[str, tuple[str, dict[str, set[int]]]] = {
    "a row that is not the greatest": ("DELETE FROM {a} WHERE id = 3", {}),
    "the greatest row": ("DELETE FROM {a} WHERE id = 9", {"counted": {0}}),
    "the greatest row becomes greater": ("UPDATE {a} SET v = v + 100 WHERE id = 9", {}),
    "a whole group": ("DELETE FROM {a} WHERE g = 1", {"uncounted": {1}}),
    "a sum of 0": ("UPDATE {a} SET v = 0 WHERE g = 2", {"counted": {2}, "uncounted": {2}}),
    "another group": ("UPDATE {a} SET g = 1 WHERE id = 3", {}),
    "all rows": ("DELETE FROM {a}", {"uncounted": {0, 1, 2}}),
}

_KEPT_CHANGES = ("the greatest row", "a whole group", "a sum of 0")


@pytest.fixture(params=["true", "false"], ids=["vectors", "rewritten"])
def table(lab: Lab, request: pytest.FixtureRequest) -> str:
    name = f"main.{lab.source}.a"
    lab.spark.sql(
        f"CREATE TABLE {name} TBLPROPERTIES ('delta.enableDeletionVectors' = '{request.param}') AS "
        "SELECT id, id % 3 AS g, id AS v FROM range(12) ORDER BY id"
    )
    lab.spark.sql(f"DELETE FROM {name} WHERE id >= 10")
    return name


@pytest.mark.slow
@pytest.mark.parametrize("change", sampled(CHANGES, *_KEPT_CHANGES))
def test_only_groups_that_are_not_settled_are_computed_again(
    lab: Lab, table: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = {"counted": QUERY, "uncounted": UNCOUNTED, "single": SINGLE, "named": NAMES}
    queries = {name: query.format(a=table) for name, query in queries.items()}
    lab.file("views.sql", sql_views(queries, policy="INCREMENTAL"))
    lab.done()
    computed: list[set[int]] = []
    restricted = DeltaRules.restricted

    def noted(self: Any, groups: Any, keys: DataFrame, left_out: DataFrame | None = None) -> Any:
        computed.append({row[0] for row in keys.collect()})
        return restricted(self, groups, keys, left_out)

    monkeypatch.setattr(DeltaRules, "restricted", noted)
    statement, expected = CHANGES[change]
    lab.spark.sql(statement.format(a=table))
    plans = planned(lab, lab.done())
    assert {plan.chosen for plan in plans.values()} == {"GROUP_AGGREGATE"}, [p.issues for p in plans.values()]
    for name, query in queries.items():
        assert bag(lab.table(name)) == bag(lab.spark.sql(query)), name
    wanted = [expected[name] for name in queries if name in expected]
    # `named` has a count of rows; its sums are those of `uncounted`.
    wanted += [expected["counted"]] if change == "a sum of 0" else []
    assert sorted(map(sorted, computed)) == sorted(map(sorted, wanted))


def test_digits_of_large_decimals_are_kept(lab: Lab, table: str) -> None:
    query = LARGE.format(a=table)
    lab.file("views.sql", sql_views({"v0": query}, policy="INCREMENTAL"))
    lab.done()
    for change in ("INSERT INTO {a} VALUES (20, 1, 5)", "DELETE FROM {a} WHERE id = 4"):
        lab.spark.sql(change.format(a=table))
        lab.done()
        assert bag(lab.table("v0")) == bag(lab.spark.sql(query)), change


@pytest.mark.slow
def test_a_merged_group_is_not_written_by_a_failed_update(
    lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure to merge is a recomputation with the same rows."""
    lab.file("views.sql", sql_views({"v0": QUERY.format(a=table)}, policy="INCREMENTAL"))
    lab.done()

    def fail(*_: Any) -> None:
        raise RuntimeError("no")

    from lakeward.pipelines.incremental import view_refresh

    monkeypatch.setattr(view_refresh, "apply_changed_aggregates", fail)
    lab.spark.sql(f"DELETE FROM {table} WHERE id = 4")
    lab.done()
    assert aggregate_merge.SETTLED not in lab.table("v0").columns
    assert bag(lab.table("v0")) == bag(lab.spark.sql(QUERY.format(a=table)))


@pytest.mark.slow
def test_of_an_aggregate_without_groups_only_the_row_now_is_computed(
    lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = f"SELECT sum(v) DIV count(*) AS m, 2 * max(v) AS d FROM {table}"
    lab.file("views.sql", sql_views({"v0": query}, policy="INCREMENTAL"))
    lab.done()

    def fail(*_: Any) -> None:
        raise AssertionError("the row before is in the view")

    monkeypatch.setattr(DeltaRules, "delta", fail)
    for change, is_new in (
        (f"DELETE FROM {table} WHERE id = 9", True),
        (f"INSERT INTO {table} VALUES (20, 1, 4)", False),  # the mean of the others
    ):
        files = set(lab.table("v0").inputFiles())
        lab.spark.sql(change)
        assert planned(lab, lab.done())["v0"].chosen == "ROW_BASED"
        assert bag(lab.table("v0")) == bag(lab.spark.sql(query)), change
        assert (set(lab.table("v0").inputFiles()) != files) is is_new
