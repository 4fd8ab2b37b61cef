"""Rows that are added to a source of a view are merged or appended, whatever wrote the files they are in."""

from __future__ import annotations

from collections import Counter

import pytest

from lakeward.pipelines.incremental import join_bounds
from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import planned, sql_views

# A refresh replaces files of this view: the changes of its readers are differences of files.
LOW = "SELECT id, max(g) AS g, max(v) AS v, max(f) AS f FROM {a} GROUP BY id"
QUERIES = {
    "counted": "SELECT g, count(*) AS n, sum(v) AS s, max(f) AS hi, min(f) AS lo FROM low GROUP BY g",
    "distinct": "SELECT g, count(*) AS n, max(f) AS hi FROM (SELECT DISTINCT g, v, f FROM low) GROUP BY g",
    "joined": "SELECT g, sum(x.v) AS s FROM low x JOIN low y USING (g) GROUP BY g",
    "several": "SELECT g, v, count(*) AS n FROM low WHERE v > 1 OR g IS NULL GROUP BY g, v",
    "filtered": "SELECT id, v * 2 AS w FROM low WHERE v > 1",
    "paired": "SELECT x.id, y.v FROM low x JOIN low y ON x.g = y.v",
    "keys": "SELECT DISTINCT g, v FROM low",
}
AGGREGATES = ("counted", "distinct", "joined", "several")
ADDED = {
    "new ids": "(20, 1, 7, 3.5D), (21, 8, 5, double('NaN')), (22, NULL, NULL, NULL), (23, 1, 7, 3.5D)",
    "new ids with the values of others": "(24, 1, 7, 3.5D), (25, 0, 6, 3.5D), (26, 0, 6, 4.5D)",
    "rows that are there": "(1, 1, 2, 1.5D), (2, 2, 4, 2.5D)",
    "rows of no id": "(NULL, NULL, NULL, NULL), (NULL, 1, 2, -1.5D)",
}


@pytest.fixture
def table(lab: Lab) -> str:
    lab.seed("a", "SELECT id, id % 3 AS g, id * 2 AS v, id + 0.5D AS f FROM range(9)")
    views = {"low": LOW.format(a=f"main.{lab.source}.a"), **QUERIES}
    lab.file("views.sql", sql_views(views, policy="INCREMENTAL"))
    lab.done()
    return f"main.{lab.source}.a"


def techniques(lab: Lab) -> dict[str, str]:
    """Run an update, and return the techniques of views that have exactly the rows of their queries."""
    found = {name: plan.chosen for name, plan in planned(lab, lab.done()).items()}
    low = f"({LOW.format(a=f'main.{lab.source}.a')})"
    for name, query in QUERIES.items():
        wanted = lab.spark.sql(query.replace("FROM low", f"FROM {low}").replace("JOIN low", f"JOIN {low}"))
        rows = Counter(map(repr, lab.table(name).collect()))
        assert rows == Counter(map(repr, wanted.collect())), name
    return found


@pytest.mark.slow
def test_added_rows_are_merged_or_appended_and_removed_ones_replace_groups(lab: Lab, table: str) -> None:
    """SDP-5.2: the event log has the technique that was used, after the changed rows are known."""
    for rows in (ADDED["new ids"], ADDED["new ids with the values of others"], ADDED["rows of no id"]):
        lab.spark.sql(f"INSERT INTO {table} VALUES {rows}")
        used = techniques(lab)
        assert {name: used[name] for name in AGGREGATES} == dict.fromkeys(AGGREGATES, "GROUP_AGGREGATE")
        assert {used["filtered"], used["paired"]} == {"APPEND_ONLY"}
    lab.spark.sql(f"UPDATE {table} SET v = 50, g = 2 WHERE id IN (4, 5)")
    used = techniques(lab)
    merged = {name: used[name] for name in AGGREGATES}
    assert merged.pop("distinct") == "GENERIC_AGGREGATE"
    assert set(merged.values()) == {"GROUP_AGGREGATE"}
    assert {used["filtered"], used["paired"]} == {"ROW_BASED"}
    # The row that is removed is of no use to the two views whose filter it does not pass.
    lab.spark.sql(f"UPDATE {table} SET f = 0.25D WHERE id = 0")
    lab.spark.sql(f"INSERT INTO {table} VALUES (30, 1, 7, 3.5D)")
    used = techniques(lab)
    assert {used["counted"], used["several"], used["filtered"]} == {"GROUP_AGGREGATE", "APPEND_ONLY"}


@pytest.mark.slow
@pytest.mark.parametrize("rows", ADDED.values(), ids=list(ADDED))
def test_many_keys_are_joined_without_a_broadcast(
    lab: Lab, table: str, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join_bounds, "MAX_BROADCAST_KEYS", 0)
    lab.spark.sql(f"INSERT INTO {table} VALUES {rows}")
    lab.spark.sql(f"DELETE FROM {table} WHERE id = 7")
    techniques(lab)
    lab.spark.sql(f"INSERT INTO {table} VALUES {ADDED['rows that are there']}")
    techniques(lab)
