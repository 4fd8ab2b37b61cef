"""A join of changed rows reads the files of its other side that can have their keys, and no others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lakeward.pipelines.incremental import join_bounds
from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import planned, sql_views

KEYS = {
    "number": "id",
    "decimal": "CAST(id AS DECIMAL(20, 2))",
    "date": "DATE'2024-01-01' + CAST(id AS INT)",
    "timestamp": "timestamp_micros(1704067200000001 + id * 86400000000)",
    "timestamp_ntz": "CAST(timestamp_micros(1704067200000001 + id * 86400000000) AS TIMESTAMP_NTZ)",
    "string": "lpad(CAST(id AS STRING), 5, '0')",
}
# {a}, {b} and {c} have a row for each number; {b} is joined by its key, {c} by the key of {a}.
QUERIES = {
    "inner": "SELECT a.id, b.v FROM {a} a JOIN {b} b ON a.k = b.k",
    "safe": "SELECT a.id, b.v FROM {a} a JOIN {b} b ON a.k <=> b.k AND a.id < b.v",
    "outer": "SELECT a.id, b.v FROM {a} a LEFT JOIN {b} b ON a.k = b.k",
    "right": "SELECT a.id, b.v FROM {a} a RIGHT JOIN {b} b ON a.k = b.k",
    "semi": "SELECT id FROM {a} a WHERE EXISTS (SELECT 1 FROM {b} b WHERE a.k = b.k AND b.v > 11)",
    "anti": "SELECT id FROM {a} a WHERE NOT EXISTS (SELECT 1 FROM {b} b WHERE a.k = b.k AND b.v > 11)",
    "three": "SELECT a.id, b.v, c.v AS w FROM {a} a JOIN {b} b ON a.k = b.k LEFT JOIN {c} c ON a.k = c.k",
    "computed": "SELECT a.id, b.v FROM (SELECT id, k AS renamed FROM {a} WHERE id > 2) a "
    "JOIN {b} b ON a.renamed = b.k",
    "summed": "SELECT a.id % 2 AS g, sum(b.v) AS s FROM {a} a JOIN {b} b ON a.k = b.k GROUP BY ALL",
}


@pytest.fixture(autouse=True)
def _small_sources_have_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_bounds, "MIN_BYTES", 0)


class Joined:
    """Three tables with a file of 20 rows each, and views of their joins."""

    def __init__(self, lab: Lab, key: str, queries: dict[str, str]) -> None:
        self.lab, self.key = lab, KEYS[key]
        self.tables = {name: f"main.{lab.source}.{name}" for name in "abc"}
        for name in self.tables:
            self.append(name, 0, 20)
        self.queries = {name: text.format(**self.tables) for name, text in queries.items()}
        lab.file("views.sql", sql_views(self.queries, policy="INCREMENTAL"))
        self.update()

    def append(self, name: str, start: int, end: int, *, nulls: bool = False) -> None:
        """Append a file; with `nulls` also a row without a key."""
        rows = f"SELECT id, {self.key} AS k, id + 1 AS v FROM range({start}, {end}, 1, 1)"
        self.lab.seed(name, f"{rows} UNION ALL SELECT {end}, NULL, 100L" if nulls else rows)

    def update(self) -> set[str]:
        return {plan.chosen for plan in planned(self.lab, self.lab.done()).values()}

    def assert_exact(self) -> None:
        for name, query in self.queries.items():
            wanted = Counter(map(tuple, self.lab.spark.sql(query).collect()))
            assert Counter(map(tuple, self.lab.table(name).collect())) == wanted, name

    def files(self) -> set[Path]:
        paths = (each for table in self.tables.values() for each in self.lab.spark.table(table).inputFiles())
        return {Path(each.removeprefix("file:")) for each in paths}


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_files_without_keys_of_changed_rows_are_not_read(lab: Lab, key: str) -> None:
    """The first files are moved away: an update that reads one of them fails and recomputes."""
    joined = Joined(lab, key, QUERIES)
    old = joined.files()
    for changed in ("ab", "c"):
        for name in changed:
            joined.append(name, 20, 25)
        away = [file.rename(file.with_suffix(".away")) for file in old]
        used = joined.update()
        for file in away:
            file.rename(file.with_suffix(".parquet"))
        assert "COMPLETE_RECOMPUTE" not in used, changed
        joined.assert_exact()


CHANGES = (
    "DELETE FROM {a} WHERE id = 3",
    "UPDATE {b} SET v = v + 10 WHERE id % 7 = 1",
    "UPDATE {a} SET k = NULL WHERE id = 21",
    "DELETE FROM {c} WHERE k IS NULL",
    "MERGE INTO {b} t USING {a} s ON t.id = s.id AND t.id < 4 WHEN MATCHED THEN UPDATE SET k = NULL",
)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_changed_keys_and_rows_without_a_key_leave_the_rows_of_the_query(lab: Lab, key: str) -> None:
    """`test_incremental_law.py` has joins of changed rows with bounds, too, in the default lane."""
    joined = Joined(lab, key, QUERIES)
    for name in "abc":
        joined.append(name, 20, 25, nulls=True)
    joined.update()
    joined.assert_exact()
    for change in CHANGES:
        lab.spark.sql(change.format(**joined.tables))
        assert "COMPLETE_RECOMPUTE" not in joined.update(), change
        joined.assert_exact()
