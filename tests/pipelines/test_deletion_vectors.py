"""Views of sources with deletion vectors: which rows of a changed file are read, and what the views have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.pipelines.incremental import change_set
from lakeward.pipelines.incremental.change_set import MAX_INLINE_BYTES, ChangeSet, Source, SourceVersion
from lakeward.pipelines.incremental.row_bags import net_rows
from lakeward.pipelines.incremental.view_plan import frame_of, read_view_plan
from lakeward.spark_internals import jvm_view
from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import Planned, planned, sql_views

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# One view of each kind reads all sources; {all} has the name of its source in each row.
QUERIES = {
    "filtered": "SELECT source, id, g, v FROM ({all}) WHERE v % 3 <> 0",
    "summed": "SELECT source, g, count(*) AS n, sum(v) AS s FROM ({all}) GROUP BY source, g",
    "joined": "SELECT x.source, x.id, x.v, y.name FROM ({all}) AS x JOIN {groups} AS y ON x.g = y.g",
}
DELETE_3, DELETE_5 = (f"DELETE FROM {{a}} WHERE id % 50 = {each}" for each in (3, 5))
UPDATE = "UPDATE {a} SET v = v + 1 WHERE id % 50 = 4"
MERGE = """MERGE INTO {a} t USING (SELECT id FROM range(190, 210)) s ON t.id = s.id
WHEN MATCHED AND s.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = -t.v
WHEN NOT MATCHED THEN INSERT (id, g, v) VALUES (s.id, 1, 7)"""
UNUSED = "UPDATE {a} SET t = 'z' WHERE id = 120"
EMPTY = "DELETE FROM {a} WHERE id < 100"
RESTORE = "RESTORE TABLE {a} TO VERSION AS OF 0"
MAPPED = "PARTITIONED BY (g) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "


@dataclass(frozen=True)
class Case:
    """Statements between two updates, and how many inserted and deleted rows they make a view read.

    `before` runs before the first update. The 200 rows of a source are in two files.
    """

    changes: tuple[str, ...]
    read: tuple[int, int]
    before: tuple[str, ...] = ()
    layout: str = "TBLPROPERTIES ("


CASES = {
    "deleted_again": Case((DELETE_5,), (0, 4), before=(DELETE_3,)),
    # One file loses its last row, the other one 15 rows, of which 7 come back.
    "several": Case((DELETE_3, UPDATE, MERGE, UNUSED, "DELETE FROM {a} WHERE id = 104", EMPTY), (17, 115)),
    "optimized": Case((DELETE_3, "OPTIMIZE {a}"), (196, 200)),
    "purged": Case(("DELETE FROM {a} WHERE id = 3", "REORG TABLE {a} APPLY (PURGE)"), (99, 100)),
    "restored": Case((RESTORE,), (4, 0), before=(DELETE_3,)),
    "restored_and_deleted": Case((RESTORE, DELETE_5), (4, 4), before=(DELETE_3,)),
    "mapped": Case((DELETE_3, UPDATE), (4, 8), layout=MAPPED),
}
VACUUMED = "vacuumed"
TARGET = "target"
AUTO_CDC = f"""
CREATE STREAMING TABLE {TARGET};
CREATE FLOW f AS AUTO CDC INTO {TARGET} FROM STREAM(SRC.feed) KEYS (id) APPLY AS DELETE WHEN gone
SEQUENCE BY seq COLUMNS * EXCEPT (gone, seq);
"""
NAMES = (*CASES, TARGET)


@dataclass
class Run:
    """After two updates, by source: its version before the changes, its change, the numbers of rows that
    were read, and the views whose rows differ from their queries."""

    lab: Lab
    plans: dict[str, Planned]
    seen: dict[str, SourceVersion]
    changes: dict[str, ChangeSet]
    read: dict[str, tuple[int, int]]
    differences: dict[str, list[str]]


def full_name(lab: Lab, name: str) -> str:
    return f"main.{lab.schema if name == TARGET else lab.source}.{name}"


def query(lab: Lab, view: str) -> str:
    rows = " UNION ALL ".join(
        f"SELECT '{name}' AS source, id, g, v FROM {full_name(lab, name)}" for name in NAMES
    )
    return QUERIES[view].format(all=rows, groups=full_name(lab, "groups"))


def create(lab: Lab, name: str, case: Case) -> None:
    table = full_name(lab, name)
    lab.spark.sql(
        f"CREATE TABLE {table} {case.layout}'delta.enableDeletionVectors' = 'true') "
        "AS SELECT id, id % 5 AS g, id * 2 AS v, 't' AS t FROM range(0, 200, 1, 2)"
    )
    change(lab, name, case.before)


def change(lab: Lab, name: str, statements: Iterable[str]) -> None:
    for statement in statements:
        lab.spark.sql(statement.format(a=full_name(lab, name)))


def source(lab: Lab, name: str) -> Source:
    (node,) = read_view_plan(lab.spark.sql(f"SELECT id, g, v FROM {full_name(lab, name)}")).sources
    return Source(lab.spark, node)


def vector_files(lab: Lab, name: str) -> set[Path]:
    detail = lab.spark.sql(f"DESCRIBE DETAIL {full_name(lab, name)}").collect()[0]
    return set(Path(detail["location"].removeprefix("file:")).glob("*.bin"))


def rows_of(lab: Lab, plan: Any) -> Counter[tuple[Any, ...]]:
    """Return the bag of id, g and v; columns that no view uses may be NULL."""
    rows = [] if plan is None else frame_of(lab.spark, plan).collect()
    return Counter(tuple(row)[:3] for row in rows)


def rows_read(lab: Lab, change: ChangeSet) -> tuple[int, int]:
    """Return the numbers of inserted and deleted rows before those that are equal cancel out."""
    compared: list[int] = []

    def count_rows(*sides: DataFrame) -> DataFrame:
        compared.extend(side.count() for side in sides)
        return net_rows(*sides)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(change_set, "net_rows", count_rows)
        plans = change.find_rows()
    inserted, deleted = compared or (rows_of(lab, plan).total() for plan in plans)
    return inserted, deleted


def differences(lab: Lab) -> dict[str, list[str]]:
    """Return the views that have other rows than their queries, by source."""
    found: dict[str, list[str]] = {name: [] for name in NAMES}
    for view in QUERIES:
        frames = lab.table(view), lab.spark.sql(query(lab, view))
        stored, wanted = (Counter(map(tuple, frame.collect())) for frame in frames)
        for row in (stored - wanted) + (wanted - stored):
            found[row[0]].append(view)
    return found


@pytest.fixture(scope="module")
def run(module_lab: Callable[[], Lab]) -> Run:
    lab = module_lab()
    lab.seed("groups", "SELECT id AS g, concat('group ', id) AS name FROM range(5)")
    lab.seed("feed", "SELECT id, 1L AS seq, id % 5 AS g, id * 2 AS v, false AS gone FROM range(200)")
    for name, case in CASES.items():
        create(lab, name, case)
    create(lab, VACUUMED, Case((), (0, 0), before=(DELETE_3,)))
    views = {view: query(lab, view) for view in QUERIES}
    views["of_vacuumed"] = f"SELECT id, v FROM {full_name(lab, VACUUMED)}"
    lab.file("views.sql", sql_views(views, policy="INCREMENTAL"))
    lab.file("cdc.sql", AUTO_CDC)
    lab.done()
    seen = {name: source(lab, name).version() for name in NAMES}
    for name, case in CASES.items():
        change(lab, name, case.changes)
    lab.seed("feed", "SELECT id, 2L AS seq, id % 5 AS g, id * 3 AS v, id % 2 = 0 AS gone FROM range(5, 9)")
    old_vectors = vector_files(lab, VACUUMED)
    change(lab, VACUUMED, [DELETE_5])
    for file in old_vectors:
        file.unlink()
    update = lab.done()
    changes = {name: source(lab, name).changes_since(seen[name]) for name in NAMES}
    read = {name: rows_read(lab, change) for name, change in changes.items()}
    return Run(lab, planned(lab, update), seen, changes, read, differences(lab))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_views_of_a_source_with_deletion_vectors_equal_their_recomputation(run: Run, name: str) -> None:
    assert {run.plans[view].chosen for view in QUERIES}.isdisjoint({"COMPLETE_RECOMPUTE", "NO_OP"})
    assert not run.differences[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_of_a_file_with_another_deletion_vector_only_the_marked_rows_are_read(run: Run, name: str) -> None:
    assert run.read[name] == ((2, 4) if name == TARGET else CASES[name].read)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deleted_again", "restored"])
def test_the_size_of_a_change_is_the_share_of_the_marked_rows(run: Run, name: str) -> None:
    change = run.changes[name]
    assert change.bytes == pytest.approx(4 / 200 * change.total, abs=2)


@pytest.mark.slow
def test_a_vacuumed_deletion_vector_of_the_old_version_is_a_reason_to_recompute(run: Run) -> None:
    plan = run.plans["of_vacuumed"]
    (issue,) = plan.issues
    assert (plan.chosen, issue["issue_type"]) == ("COMPLETE_RECOMPUTE", "DATA_FILE_MISSING")
    assert "deletion_vector_" in plan.message


@pytest.mark.slow
def test_of_vectors_whose_difference_is_too_large_to_send_all_marked_rows_are_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = [rows_of(run.lab, plan) for plan in run.changes["deleted_again"].rows]
    monkeypatch.setattr(change_set, "MAX_INLINE_BYTES", 10)
    change = source(run.lab, "deleted_again").changes_since(run.seen["deleted_again"])
    assert rows_read(run.lab, change) == (4, 8)
    assert [rows_of(run.lab, plan) for plan in change.rows] == exact


@pytest.mark.slow
def test_the_largest_difference_can_be_sent_with_a_file(run: Run) -> None:
    from py4j.protocol import Py4JJavaError

    descriptor = jvm_view(run.lab.spark).org.apache.spark.sql.delta.actions.DeletionVectorDescriptor
    largest = descriptor.inlineInLog(bytes(MAX_INLINE_BYTES), 1)
    assert descriptor.deserializeFromBase64(largest.serializeToBase64()).equals(largest)
    with pytest.raises(Py4JJavaError, match="UTFDataFormatException"):
        descriptor.inlineInLog(bytes(MAX_INLINE_BYTES + 1), 1).serializeToBase64()


# Rows 3 and 53 are updated with the values that they have, 4 with another; the numbers are of rows written.
GROUPED = {
    "by_key": ("SELECT id % 50 AS k, sum(v) AS s, max(x) AS x FROM {a} GROUP BY ALL", 1),
    "joined": ("SELECT a.id % 50 AS k, sum(v + w) AS s FROM {a} a JOIN {b} b ON a.g = b.g GROUP BY ALL", 1),
    "left_joined": (
        "SELECT a.id % 50 AS k, sum(w) AS s FROM {a} a LEFT JOIN {b} b ON a.v = b.w GROUP BY ALL",
        1,
    ),
    "union": (
        "SELECT id % 50 AS k, max(v) AS s FROM (SELECT id, v FROM {a} UNION ALL FROM {b}) GROUP BY k",
        1,
    ),
    "windows": (
        "SELECT *, sum(v) OVER (PARTITION BY k) AS s FROM (SELECT id, v, id % 50 AS k FROM {a})",
        4,
    ),
    "below": (
        "SELECT s, count(*) AS n FROM (SELECT id % 50 AS k, sum(v) AS s FROM {a} GROUP BY ALL) GROUP BY s",
        1,
    ),
    "nested": ("SELECT id % 50 AS k, max(array(v)) AS s FROM {a} GROUP BY ALL", 1),
    "filtered": ("SELECT id % 50 AS k, count(*) AS n FROM {a} WHERE v % 2 = 1 GROUP BY ALL", 1),
    "unused": ("SELECT id % 50 AS k, max(t) AS t FROM {a} GROUP BY ALL", 0),
}


@pytest.mark.slow
def test_groups_with_marked_rows_are_compared_by_hashes(
    module_lab: Callable[[], Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of groups whose rows are the same, none is computed again; the changed rows are not compared."""
    lab = module_lab()
    lab.spark.sql(
        f"CREATE TABLE {full_name(lab, 'a')} TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS "
        "SELECT id, id % 5 AS g, id * 2 AS v, id / 2D AS x, 't' AS t FROM range(0, 200, 1, 2)"
    )
    lab.seed("b", "SELECT id AS g, id * 8 AS w FROM range(5)")
    views = {
        name: text.format(a=full_name(lab, "a"), b=full_name(lab, "b")) for name, (text, _) in GROUPED.items()
    }
    lab.file("views.sql", sql_views(views, policy="INCREMENTAL"))
    lab.done()
    netted: list[Any] = []
    monkeypatch.setattr(change_set.Source, "_net_changes", lambda *_: netted.append(1) or (None, None))
    lab.spark.sql(
        f"UPDATE {full_name(lab, 'a')} SET v = CASE id WHEN 4 THEN v + 1 ELSE v END WHERE id IN (3, 53, 4)"
    )
    update = lab.done()
    assert not netted
    for name in GROUPED:
        stored, wanted = (map(repr, rows.collect()) for rows in (lab.table(name), lab.spark.sql(views[name])))
        assert Counter(stored) == Counter(wanted), name
    written = {each.name: each.rows_written for each in update.datasets}
    assert written == {name: rows for name, (_, rows) in GROUPED.items()}
