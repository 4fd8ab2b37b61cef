"""The change data feed of every kind of dataset turns each of its versions into the newest one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.pipelines.conftest import LIMITS, Lab, replace_rows

PROPERTY = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
DATASETS = {
    "grouped": f"CREATE MATERIALIZED VIEW grouped {PROPERTY} AS "
    "SELECT g, count(*) AS n, sum(v) AS s FROM SRC.a GROUP BY g;",
    "filtered": f"CREATE MATERIALIZED VIEW filtered {PROPERTY} AS SELECT id, v FROM SRC.a WHERE v % 3 <> 0;",
    "numbered": f"CREATE MATERIALIZED VIEW numbered {PROPERTY} AS "
    "SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY v, id) AS n FROM SRC.a;",
    "appended": f"CREATE STREAMING TABLE appended {PROPERTY} AS SELECT * FROM STREAM(SRC.feed);",
    **{
        f"scd{kind}": f"CREATE STREAMING TABLE scd{kind} {PROPERTY};\n"
        f"CREATE FLOW f{kind} AS AUTO CDC INTO scd{kind} FROM STREAM(SRC.feed) KEYS (id) "
        "APPLY AS DELETE WHEN gone SEQUENCE BY seq COLUMNS * EXCEPT (gone, seq) "
        f"STORED AS SCD TYPE {kind};"
        for kind in (1, 2)
    },
}
STEPS: tuple[Callable[[Lab], Any], ...] = (
    lambda lab: lab.seed("a", "SELECT id, id % 4 AS g, id AS v FROM range(20, 24)"),
    lambda lab: lab.spark.sql(f"UPDATE main.{lab.source}.a SET v = v + 1, g = 9 WHERE id % 7 = 3"),
    lambda lab: lab.spark.sql(f"DELETE FROM main.{lab.source}.a WHERE g = 2 OR id = 1"),
    lambda lab: [lab.spark.sql(f"OPTIMIZE main.{lab.schema}.{name}") for name in ("filtered", "scd1")],
    lambda lab: lab.done(full_refresh=["grouped", "appended"]),
)
FEED = (
    "SELECT id, 2L AS seq, 'second' AS v, id % 3 = 0 AS gone FROM range(4, 12)",
    "SELECT id, 1L AS seq, 'late' AS v, false AS gone FROM range(6, 14)",
    "SELECT id, 3L AS seq, 'third' AS v, id = 5 AS gone FROM range(3, 7)",
)


def rows(lab: Lab, name: str, version: int) -> Counter[tuple[Any, ...]]:
    found = lab.spark.sql(f"SELECT * FROM main.{lab.schema}.{name} VERSION AS OF {version}")
    return Counter(tuple(row) for row in found.collect())


@pytest.mark.slow
@pytest.mark.parametrize("way", LIMITS)
def test_changes_of_later_versions_turn_each_version_into_the_newest(
    lab: Lab, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INV-15, with refreshes in every way, late events, deletes, compaction and full refreshes."""
    replace_rows(monkeypatch, way)
    lab.seed("a", "SELECT id, id % 4 AS g, id AS v FROM range(20)")
    lab.seed("feed", "SELECT id, 1L AS seq, 'first' AS v, false AS gone FROM range(8)")
    lab.file("datasets.sql", "\n".join(DATASETS.values()))
    lab.done()
    for number, step in enumerate(STEPS):
        step(lab)
        if number < len(FEED):
            lab.seed("feed", FEED[number])
        lab.done()
    for name in DATASETS:
        newest = lab.version(name)
        assert newest >= 3, name
        columns = ", ".join(lab.table(name).columns)
        changes: list[tuple[int, int, tuple[Any, ...]]] = [
            (row[0], 1 if row[1] in ("insert", "update_postimage") else -1, tuple(row)[2:])
            for row in lab.spark.sql(
                f"SELECT _commit_version, _change_type, {columns} "
                f"FROM table_changes('main.{lab.schema}.{name}', 0)"
            ).collect()
        ]
        wanted = rows(lab, name, newest)
        for version in range(newest):
            bag = rows(lab, name, version)
            for at, count, row in changes:
                if at > version:
                    bag[row] += count
            assert {row: n for row, n in bag.items() if n} == dict(wanted), (name, version)
