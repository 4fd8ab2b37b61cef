"""Large views with CLUSTER BY are written as ranges of the columns, and changed rows replace few files."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise, product
from typing import Any

import pytest

from lakeward.pipelines.graph.expectations import count_expectations
from lakeward.pipelines.storage import dataset_manager
from lakeward.pipelines.writers import materialized_view
from tests.pipelines.conftest import LIMITS, Lab, replace_rows
from tests.pipelines.incremental import planned

VIEWS = """
from pyspark import pipelines as dp

@dp.temporary_view()
@dp.expect("small", "v < 1990")
def checked(): return spark.table("SRC.a")

@dp.materialized_view(
    cluster_by={columns}, refresh_policy="{policy}", table_properties={{"delta.targetFileSize": "3kb"}}
)
@dp.expect_or_drop("odd", "v % 2 = 1")
def kept():
    return spark.sql(
        "SELECT *, row_number() OVER (PARTITION BY `the-day`, id ORDER BY v) AS n FROM SRC.a"
    )

@dp.materialized_view(cluster_by={columns})
@dp.expect("even", "v % 2 = 0")
def observed(): return spark.read.table("checked")
"""
KEPT = "SELECT *, row_number() OVER (PARTITION BY `the-day`, id ORDER BY v) AS n FROM {a} WHERE v % 2 = 1"
COLUMNS = (["the-day"], ["name"], ["the-day", "id"])
CHANGES = {
    "append": "INSERT INTO {a} VALUES (3, DATE'2026-03-20', 'n3', 4001), (4000, NULL, NULL, 4003)",
    "update": "UPDATE {a} SET v = v + 2 WHERE `the-day` = DATE'2026-03-11' AND id % 3 = 0",
    "delete": "DELETE FROM {a} WHERE `the-day` = DATE'2026-03-11' AND id % 7 = 0",
    "move": "UPDATE {a} SET `the-day` = DATE'2026-03-21' WHERE `the-day` = DATE'2026-03-19' AND id < 900",
}


@pytest.fixture
def table(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(dataset_manager, "CLUSTERED_FROM_BYTES", 1)
    monkeypatch.setattr(dataset_manager, "_BYTES_OF_A_RANGE", 1)
    monkeypatch.setattr(dataset_manager, "_MAX_RANGES", 5)
    lab.seed(
        "a",
        "SELECT id, date_add(DATE'2026-03-01', CAST(id % 20 AS INT)) AS `the-day`, "
        "concat('n', id % 11) AS name, id AS v FROM range(2000)",
    )
    return f"main.{lab.source}.a"


def declare(lab: Lab, columns: list[str], policy: str = "auto") -> None:
    lab.file("views.py", VIEWS.format(columns=columns, policy=policy))


def files(lab: Lab, name: str, column: str) -> dict[str, tuple[Any, Any]]:
    """Return the lowest and the highest value of a column for each file of a view."""
    rows = lab.spark.sql(
        f"SELECT _metadata.file_path AS path, min(`{column}`) AS lo, max(`{column}`) AS hi "
        f"FROM main.{lab.schema}.{name} GROUP BY 1 ORDER BY lo NULLS FIRST"
    )
    return {row.path: (row.lo, row.hi) for row in rows.collect()}


def counts(lab: Lab) -> Counter[tuple[str, int, int]]:
    """Return the counts of all expectations of the log, as (name, passed, failed)."""
    found: Counter[tuple[str, int, int]] = Counter()
    for event in lab.log("event_type = 'flow_progress'"):
        quality = json.loads(event["details"])["flow_progress"].get("data_quality") or {}
        for rule in quality.get("expectations") or ():
            found[rule["name"], rule["passed_records"], rule["failed_records"]] += 1
    return found


@pytest.mark.parametrize("columns", COLUMNS, ids=", ".join)
def test_files_are_ranges_of_the_clustering_columns(lab: Lab, table: str, columns: list[str]) -> None:
    declare(lab, columns)
    lab.done()
    for name in ("kept", "observed"):
        found = list(files(lab, name, columns[0]).values())
        assert len(found) == 5, name
        assert all(before[1] <= after[0] for before, after in pairwise(found)), name
    rows = lab.spark.sql(KEPT.format(a=table)).collect()
    assert Counter(lab.table("kept").collect()) == Counter(rows)
    assert lab.table("observed").count() == 2000


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_rows_are_counted_once(lab: Lab, table: str, full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """INV-11: Spark computes the rows twice to find the ranges; expectations count each row once.

    A query of its own counts those of views below the ranges alone.
    """
    recounted = []

    def count(rows: Any, expectations: Any) -> Any:
        recounted.extend(each.name for each in expectations)
        return count_expectations(rows, expectations)

    monkeypatch.setattr(materialized_view, "count_expectations", count)
    declare(lab, ["the-day"])
    lab.done()
    if full:
        lab.done(full_refresh=["kept", "observed"])
    wanted = {("odd", 1000, 1000): 1, ("even", 1000, 1000): 1, ("small", 1990, 10): 1}
    assert counts(lab) == Counter({key: times * (1 + full) for key, times in wanted.items()})
    assert recounted == ["small"] * (1 + full)


def test_small_results_keep_their_partitions(lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_manager, "CLUSTERED_FROM_BYTES", 1 << 20)
    declare(lab, ["the-day"])
    lab.done()
    assert len(files(lab, "kept", "the-day")) < 5


@pytest.mark.slow
@pytest.mark.parametrize(("way", "optimized"), [*product(LIMITS, (False, True))])
def test_changed_rows_leave_the_files_of_other_ranges(
    lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch, way: str, optimized: bool
) -> None:
    replace_rows(monkeypatch, way)
    declare(lab, ["the-day"], "incremental")
    lab.done()
    for name, change in CHANGES.items():
        if optimized:
            lab.spark.sql(f"OPTIMIZE main.{lab.schema}.kept")
        before = files(lab, "kept", "the-day")
        assert len(before) > 2
        lab.spark.sql(change.format(a=table))
        update = lab.done()
        assert planned(lab, update)["kept"].chosen == "WINDOW_FUNCTION", name
        after = files(lab, "kept", "the-day")
        assert len(before.keys() & after.keys()) >= 2, name
        assert Counter(lab.table("kept").collect()) == Counter(
            lab.spark.sql(KEPT.format(a=table)).collect()
        ), name
        detail = lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.kept").collect()[0]
        assert detail["clusteringColumns"] == ["`the-day`"]
