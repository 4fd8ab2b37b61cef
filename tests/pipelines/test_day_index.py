"""Views with a time among their keys read the files with rows of the affected days, and no others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import chain, product
from pathlib import Path

import pytest

from lakeward.pipelines.incremental import day_files, technique_choice
from lakeward.pipelines.incremental.day_files import DayIndex
from tests.lanes import sampled
from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import planned, sql_views

# Keys are in payloads, of which Delta has no statistics.
TYPED = (
    "SELECT p.at, p.device, p.rate, n FROM "
    "(SELECT from_json(value, 'at {kind}, device INT, rate INT') AS p, n FROM {a})"
)
KEPT = (
    "SELECT at, device, rate FROM (SELECT *, row_number() OVER "
    f"(PARTITION BY at, device ORDER BY n, rate) AS copy FROM ({TYPED})) WHERE copy = 1"
)
AVERAGED = f"SELECT at, count(*) AS n, avg(rate) AS s FROM ({TYPED}) GROUP BY at"
QUERIES = {"KEPT": KEPT, "AVERAGED": AVERAGED}
DROP, FAIL, WARN = "ON VIOLATION DROP ROW", "ON VIOLATION FAIL UPDATE", ""
PLAUSIBLE = "at >= DATE'2010-01-01'"


@pytest.fixture(autouse=True)
def _small_sources_have_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(day_files, "MIN_BYTES", 0)


def record(at: str | None, device: int, number: int) -> str:
    value = json.dumps({"at": at, "device": device, "rate": number * 3})
    return f"('{value}', {number})"


def day(number: int, *devices: int) -> str:
    at = f"2024-03-{number:02} 23:30:00"
    return "INSERT INTO {a} VALUES " + ", ".join(record(at, each, 100 * number + each) for each in devices)


class Events:
    """A table of payloads, a file for each statement, and a view of it."""

    def __init__(self, lab: Lab, query: str, *rules: tuple[str, str]) -> None:
        self.lab, self.table = lab, f"main.{lab.source}.a"
        lab.seed("a", "SELECT '' AS value, 0 AS n FROM range(0)")
        lab.spark.sql(f"ALTER TABLE {self.table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
        self.query = query.replace("{a}", self.table)
        text = sql_views({"v0": self.query}, policy="INCREMENTAL")
        constraints = [f"CONSTRAINT r{i} EXPECT ({rule}) {action}" for i, (rule, action) in enumerate(rules)]
        lab.file("views.sql", text.replace("v0 ", f"v0 ({', '.join(constraints)}) ") if rules else text)
        self.kept = " AND ".join(f"({rule})" for rule, action in rules if action == DROP) or "true"

    def update(self, *statements: str) -> str:
        """Change the table, run an update, compare the view with its query, and return the technique."""
        for statement in statements:
            text = statement.replace("{a}", self.table)
            if "{previous}" in text:
                history = self.lab.spark.sql(f"DESCRIBE HISTORY {self.table} LIMIT 1").collect()
                text = text.replace("{previous}", str(history[0]["version"] - 1))
            self.lab.spark.sql(text)
        technique = planned(self.lab, self.lab.done())["v0"].chosen
        stored, wanted = self.lab.table("v0"), self.lab.spark.sql(self.query).where(self.kept)
        assert Counter(map(repr, stored.collect())) == Counter(map(repr, wanted.collect())), statements
        return technique

    def files(self) -> set[Path]:
        return {Path(each.removeprefix("file:")) for each in self.lab.spark.table(self.table).inputFiles()}

    @property
    def index(self) -> Path:
        (found,) = self.lab.folder.rglob("day_index/*.json")
        return found


KINDS = ("TIMESTAMP", "DATE", "TIMESTAMP_NTZ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "kind"),
    sampled(product(QUERIES, KINDS), ("KEPT", "TIMESTAMP")),
)
def test_files_without_rows_of_the_affected_days_are_not_read(lab: Lab, query: str, kind: str) -> None:
    """The files of the first days are moved away: an update that reads them fails and recomputes."""
    events = Events(lab, QUERIES[query].replace("{kind}", kind))
    events.update(day(1, 1, 2), day(2, 1, 2))
    old = events.files()
    assert events.update(day(3, 1), day(4, 1)) != "COMPLETE_RECOMPUTE"
    away = [file.rename(file.with_suffix(".away")) for file in old]
    lab.spark.sql(day(4, 1, 5).replace("{a}", events.table))
    technique = planned(lab, lab.done())["v0"].chosen
    for file in away:
        file.rename(file.with_suffix(".parquet"))
    assert technique in ("WINDOW_FUNCTION", "GENERIC_AGGREGATE", "GROUP_AGGREGATE")
    assert events.update() == "NO_OP"


CHANGES = {
    "late rows": [day(1, 1, 7)],
    "times that are NULL": ["INSERT INTO {a} VALUES " + record(None, 1, 900), day(3, 9)],
    "payloads that cannot be read": ["INSERT INTO {a} VALUES ('{', 901)"],
    "a time far off": ["INSERT INTO {a} VALUES " + record("1970-01-01 00:00:00", 1, 902)],
    "before 1970": ["INSERT INTO {a} VALUES " + record("1969-12-31 23:59:59.5", 1, 903)],
    "deleted rows": ["DELETE FROM {a} WHERE n = 201", "DELETE FROM {a} WHERE n = 102"],
    "rows that return": ["DELETE FROM {a} WHERE n = 201", "RESTORE TABLE {a} TO VERSION AS OF {previous}"],
    "compacted files": ["OPTIMIZE {a}", day(2, 3)],
    "overwritten rows": ["INSERT OVERWRITE {a} VALUES " + record("2024-03-01 23:30:00", 4, 904)],
    "more days than the index keeps": [
        (
            "INSERT INTO {a} SELECT to_json(named_struct('at', DATE'2024-01-01' + CAST(id AS INT), "
            "'device', 1, 'rate', 1)), id FROM range(100)"
        ),
        day(2, 4),
    ],
}


@pytest.mark.slow
def test_the_view_equals_its_query_after_each_change(lab: Lab) -> None:
    """The changes follow each other."""
    events = Events(lab, KEPT.replace("{kind}", "TIMESTAMP"))
    events.update(day(1, 1, 2), day(2, 1, 2))
    events.update(day(2, 1, 3))
    for statement in chain(*CHANGES.values()):
        events.update(statement)
    events.update(day(1, 1, 8), day(2, 1, 8))


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_the_view_equals_its_query_after_a_change(lab: Lab, change: str) -> None:
    events = Events(lab, KEPT.replace("{kind}", "TIMESTAMP"))
    events.update(day(1, 1, 2), day(2, 1, 2))
    events.update(day(2, 1, 3))
    for statement in CHANGES[change]:
        events.update(statement)
    events.update(day(1, 1, 8), day(2, 1, 8))


def lost_clock(number: int, *devices: int) -> str:
    """Return the statement for a file with a day's rows and rows of clocks that start in 1990."""
    return day(number, *devices) + ", " + record("1990-01-01 00:00:01", 1, 950 + number)


@pytest.mark.slow
@pytest.mark.parametrize(("query", "kind"), [("KEPT", "TIMESTAMP"), ("AVERAGED", "DATE")])
def test_a_day_whose_rows_are_all_dropped_selects_no_file(lab: Lab, query: str, kind: str) -> None:
    """All files have rows of 1990; those of the first days are moved away."""
    events = Events(lab, QUERIES[query].replace("{kind}", kind), (PLAUSIBLE, DROP))
    events.update(lost_clock(1, 1, 2), lost_clock(2, 1, 2))
    old = events.files()
    assert events.update(lost_clock(3, 1)) != "COMPLETE_RECOMPUTE"
    away = [file.rename(file.with_suffix(".away")) for file in old]
    lab.spark.sql(lost_clock(4, 1, 5).replace("{a}", events.table))
    done = lab.done()
    technique = planned(lab, done)["v0"].chosen
    for file in away:
        file.rename(file.with_suffix(".parquet"))
    assert technique in ("WINDOW_FUNCTION", "GENERIC_AGGREGATE")
    (dataset,) = (each for each in done.datasets if each.name.endswith("v0"))
    (rule,) = dataset.expectations
    # The new row of 1990 alone.
    assert rule.failed == 1
    assert events.update() == "NO_OP"


RULES = {
    "the key": [(PLAUSIBLE, DROP)],
    "the key and a value": [(PLAUSIBLE, DROP), ("rate >= 300", DROP)],
    "a value": [("rate < 2700", DROP)],
    "a warning": [(PLAUSIBLE, WARN)],
    "a failure that never happens": [(PLAUSIBLE, DROP), ("rate >= 0", FAIL)],
    "the clock": [("at < current_timestamp()", DROP), (PLAUSIBLE, DROP)],
    "chance": [("at IS NOT NULL AND rand() >= 0", DROP)],
    "nothing but NULL": [("at IS NOT NULL", DROP)],
}


@pytest.mark.slow
def test_partitions_of_dropped_days_are_replaced(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    events = Events(lab, AVERAGED.replace("{kind}", "DATE"), (PLAUSIBLE, DROP))
    text = (lab.files / "views.sql").read_text()
    lab.file("views.sql", text.replace("REFRESH POLICY", "PARTITIONED BY (at) REFRESH POLICY", 1))
    monkeypatch.setattr(
        technique_choice, "estimate", lambda technique, *_: float(technique != "PARTITION_OVERWRITE")
    )
    events.update(lost_clock(1, 1, 2), lost_clock(2, 1, 2))
    assert events.update(lost_clock(3, 1), day(2, 5)) == "PARTITION_OVERWRITE"
    assert events.update("DELETE FROM {a} WHERE n > 950") == "PARTITION_OVERWRITE"


@pytest.mark.slow
@pytest.mark.parametrize("rule", sampled(RULES, "the key and a value"))
def test_dropped_days_leave_the_view_equal_to_its_query(lab: Lab, rule: str) -> None:
    events = Events(lab, KEPT.replace("{kind}", "TIMESTAMP"), *RULES[rule])
    events.update(lost_clock(1, 1, 2), lost_clock(2, 1, 2))
    events.update(lost_clock(2, 1, 3), "INSERT INTO {a} VALUES " + record(None, 1, 991))
    # No group but those of 1990.
    events.update("INSERT INTO {a} VALUES " + record("1990-01-01 00:00:01", 1, 990))
    events.update("DELETE FROM {a} WHERE n > 950")
    events.update("UPDATE {a} SET value = replace(value, '2024-03-02', '1990-01-02')")
    events.update("UPDATE {a} SET value = replace(value, '1990-01-02', '2024-03-02')")


def damage(index: Path) -> None:
    index.write_text('{"identity": ')


def lose(index: Path) -> None:
    index.unlink()


def belongs_to_another_query(index: Path) -> None:
    stored = json.loads(index.read_text())
    index.write_text(json.dumps({"identity": "other", "days": {name: [] for name in stored["days"]}}))


@pytest.mark.slow
@pytest.mark.parametrize("change", sampled([damage, lose, belongs_to_another_query], damage))
def test_an_index_that_cannot_be_used_is_computed_again(lab: Lab, change: Callable[[Path], None]) -> None:
    events = Events(lab, AVERAGED.replace("{kind}", "TIMESTAMP"))
    events.update(day(1, 1, 2))
    events.update("UPDATE {a} SET n = n + 1")
    change(events.index)
    assert events.update("DELETE FROM {a} WHERE n = 103", day(1, 3)) == "GENERIC_AGGREGATE"
    assert len(json.loads(events.index.read_text())["days"]) == len(events.files())


@pytest.mark.slow
def test_groups_and_partitions_have_days_of_their_own(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The days of one key are not those of another key of the same view."""
    later = f"SELECT *, date_add(at, 100) AS later FROM ({TYPED.replace('{kind}', 'DATE')})"
    events = Events(lab, f"SELECT at, later, count(*) AS n FROM ({later}) GROUP BY at, later")
    view = "CREATE MATERIALIZED VIEW v0 PARTITIONED BY (later) REFRESH POLICY INCREMENTAL AS "
    lab.file("views.sql", view + events.query)
    cheapest = ["GENERIC_AGGREGATE"]
    monkeypatch.setattr(technique_choice, "estimate", lambda technique, *_: float(technique != cheapest[-1]))
    events.update(day(1, 1, 2), day(2, 1))
    for technique in ("GENERIC_AGGREGATE", "PARTITION_OVERWRITE", "GENERIC_AGGREGATE"):
        cheapest.append(technique)
        assert events.update(day(2, 3), day(1, 9)) == technique


def test_the_index_has_days_and_names_of_files_alone(lab: Lab) -> None:
    events = Events(lab, KEPT.replace("{kind}", "TIMESTAMP"))
    events.update(day(1, 1, 2))
    events.update(day(2, 77_777))
    stored = json.loads(events.index.read_text())
    assert {tuple(days) for days in stored["days"].values()} <= {(), (19783,), (19784,)}
    assert "77777" not in events.index.read_text().replace(stored["identity"], "")


def test_files_with_many_days_and_unknown_ones_may_have_every_day(tmp_path: Path) -> None:
    index = DayIndex(tmp_path / "index.json", "q")
    assert index.unknown(["a", "b"]) == ["a", "b"]
    index.add({"a": frozenset({1, None}), "b": None, "c": frozenset()})
    assert index.with_days(["a", "b", "c"], frozenset({None})) == ["a", "b"]
    assert index.with_days(["a", "b", "c"], frozenset({2})) == ["b"]
    index.save(["a", "b"])
    again = DayIndex(tmp_path / "index.json", "q")
    assert again.unknown(["a", "b", "c"]) == ["c"]
    assert again.with_days(["a", "b"], frozenset({1})) == ["a", "b"]


def test_a_deletion_vector_takes_days_from_a_file_and_adds_none(tmp_path: Path) -> None:
    """A file that was examined with a vector is examined again without it: RESTORE returns its rows."""
    index = DayIndex(tmp_path / "index.json", "q")
    index.add({"a": frozenset({1, 2}), "b|v1": frozenset({1})})
    assert index.unknown(["a|v1", "b", "b|v1", "b|v2"]) == ["b", "b|v2"]
    assert index.with_days(["a|v1", "a|v2", "b|v1"], frozenset({2})) == ["a|v1", "a|v2"]
    index.save(["a|v2", "b|v1"])
    again = DayIndex(tmp_path / "index.json", "q")
    assert again.unknown(["a", "a|v3", "b|v1", "b"]) == ["b"]
