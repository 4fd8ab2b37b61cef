"""Bitemporal AUTO CDC: at every system time, the type 2 history of the events known then (SDP-3.4.6)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable
from lakeward.pipelines.autocdc.target_table import TargetTable
from tests.pipelines.conftest import Lab
from tests.pipelines.test_auto_cdc import Bench

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINE = """
from pyspark import pipelines as dp

dp.create_streaming_table("python")
dp.create_auto_cdc_flow(
    target="python", source="SRC.feed", keys=["id"], sequence_by="source_updated_at",
    system_sequence_by="ingested_at", stored_as_scd_type="bitemporal",
    except_column_list=["source_updated_at", "ingested_at"],
)
"""
SQL = """
CREATE STREAMING TABLE sql;
CREATE FLOW f AS AUTO CDC INTO sql FROM STREAM(SRC.feed) KEYS (id)
SEQUENCE BY source_updated_at SYSTEM SEQUENCE BY ingested_at
COLUMNS * EXCEPT (source_updated_at, ingested_at) STORED AS BITEMPORAL
"""


def event(status: str, source: str, system: str) -> str:
    return (
        f"SELECT 1 AS id, '{status}' AS status, TIMESTAMP '2026-05-01 {source}' AS source_updated_at, "
        f"TIMESTAMP '2026-05-01 {system}' AS ingested_at"
    )


def test_the_recorded_example(lab: Lab) -> None:
    lab.seed("feed", event("ACTIVE", "10:02", "10:03"))
    lab.seed("feed", event("PENDING", "10:00", "10:01"))
    lab.seed("feed", event("SUSPENDED", "10:04", "10:05"))
    lab.file("a.py", PIPELINE)
    lab.file("b.sql", SQL)
    lab.done()
    for name in ("python", "sql"):
        table = lab.table(name)
        assert table.columns[2:] == ["__START_AT", "__END_AT", "__SYSTEM_START_AT", "__SYSTEM_END_AT"]
        rows = {(row[1], *("" if at is None else f"{at:%H:%M}" for at in row[2:])) for row in table.collect()}
        assert rows == {
            ("PENDING", "10:00", "", "10:01", "10:03"),
            ("PENDING", "10:00", "10:02", "10:03", ""),
            ("ACTIVE", "10:02", "", "10:03", "10:05"),
            ("ACTIVE", "10:02", "10:04", "10:05", ""),
            ("SUSPENDED", "10:04", "", "10:05", ""),
        }, name


class Event(NamedTuple):
    """One event of the feed `example`, which has one key."""

    example: int
    id: str | None
    seq: int
    sys: int
    gone: bool
    a: str | None
    b: int | None


SCHEMA = "example int, id string, seq int, sys int, gone boolean, a string, b int"
OPTIONS: dict[str, Any] = {
    "keys": ["example", "id"],
    "sequence_by": "seq",
    "system_sequence_by": "sys",
    "stored_as_scd_type": "bitemporal",
    "apply_as_deletes": "gone",
    "except_column_list": ["seq", "sys", "gone"],
}


def history(events: Iterable[Event], tracked: tuple[str, ...], *, partial: bool) -> list[tuple[Any, ...]]:
    """SCD type 2 of one key; of events with one sequence, the last known one."""
    rows: list[list[Any]] = []
    is_open = False
    latest = {event.seq: event for event in sorted(events, key=lambda event: event.sys)}
    for each in sorted(latest.values(), key=lambda event: event.seq):
        values = {"a": each.a, "b": each.b}
        if partial and is_open:
            values = {name: rows[-1][0][name] if new is None else new for name, new in values.items()}
        if each.gone:
            if is_open:
                rows[-1][2] = each.seq
            is_open = False
        elif is_open and all(rows[-1][0][name] == values[name] for name in tracked):
            rows[-1][0] = values
        else:
            if is_open:
                rows[-1][2] = each.seq
            rows.append([values, each.seq, None])
            is_open = True
    return sorted(((v["a"], v["b"], start, end) for v, start, end in rows), key=repr)


def table_of(events: Iterable[Event], tracked: tuple[str, ...], *, partial: bool) -> list[tuple[Any, ...]]:
    """The whole table by the law alone: the histories, equal rows of successive ones united."""
    found = []
    keys: dict[tuple[Any, ...], list[Event]] = {}
    for each in events:
        keys.setdefault((each.example, each.id), []).append(each)
    for key, known in keys.items():
        open_rows: dict[tuple[Any, ...], int] = {}
        for time in sorted({each.sys for each in known}):
            now = history([each for each in known if each.sys <= time], tracked, partial=partial)
            gone = [row for row in open_rows if row not in now]
            found += [(*key, *row, open_rows.pop(row), time) for row in gone]
            for row in now:
                open_rows.setdefault(row, time)
        found += [(*key, *row, since, None) for row, since in open_rows.items()]
    return sorted(found, key=repr)


def feeds(keys: int) -> st.SearchStrategy[list[Event]]:
    """Events of many keys. No two events of a key have both sequences in common."""
    one = st.dictionaries(
        st.tuples(st.integers(0, 5), st.integers(0, 5)),
        st.tuples(
            st.sampled_from([False, False, False, True]),
            st.sampled_from(["p", "q", None]),
            st.sampled_from([1, None]),
        ),
        min_size=1,
        max_size=6,
    )
    many = st.lists(one, min_size=keys, max_size=keys)
    return many.map(
        lambda all_: [
            Event(example, None if example % 5 == 0 else "x", *when, *what)
            for example, events in enumerate(all_)
            for when, what in events.items()
        ]
    )


@given(feeds(8), st.sampled_from([("a", "b"), ("a",)]), st.booleans())
def test_the_law_holds_for_the_model(events: list[Event], tracked: tuple[str, ...], partial: bool) -> None:
    rows = table_of(events, tracked, partial=partial)
    for example, key in {(each.example, each.id) for each in events}:
        of_key = [row for row in rows if row[:2] == (example, key)]
        for time in range(7):
            known = [row[2:6] for row in of_key if row[6] <= time and (row[7] is None or time < row[7])]
            then = [each for each in events if (each.example, each.id) == (example, key) and each.sys <= time]
            assert sorted(known, key=repr) == history(then, tracked, partial=partial)


@pytest.mark.parametrize(
    ("seed", "tracked", "partial"),
    [
        (1, ("a", "b"), False),
        pytest.param(2, ("a",), False, marks=pytest.mark.slow),
        pytest.param(3, ("a", "b"), True, marks=pytest.mark.slow),
        pytest.param(4, ("a",), True, marks=pytest.mark.slow),
    ],
)
def test_rows_known_at_a_time_are_the_history_of_the_events_known_then(
    spark: SparkSession,
    lab: Lab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    tracked: tuple[str, ...],
    partial: bool,
) -> None:
    """Batches in any order, with repeats, and one that dies before each of its commits."""
    examples: list[list[Event]] = []

    @settings(max_examples=1, database=None, suppress_health_check=list(HealthCheck))
    @given(feeds(40))
    def draw(found: list[Event]) -> None:
        examples.append(found)

    draw()
    chance = random.Random(seed)
    events = examples[0] + [
        Event(
            100 + n,
            "r",
            chance.randint(0, 6),
            chance.randint(0, 6),
            chance.random() < 0.2,
            chance.choice("pq"),
            1,
        )
        for n in range(40)
        for _ in range(chance.randint(1, 7))
    ]
    events = list({each[:4]: each for each in events}.values())
    chance.shuffle(events)
    options = OPTIONS | {"track_history_column_list": list(tracked), "ignore_null_updates": partial}
    bench = Bench(spark, lab, tmp_path / "t", SCHEMA, **options)
    third = len(events) // 3
    batches = [events[:third], events[third : 2 * third], events[2 * third :] + events[:third]]
    bench.take(batches[0])
    assert bench.rows() == table_of(batches[0], tracked, partial=partial)
    bench.take_dying(batches[1], 1, [(TargetTable, "write"), (AuxiliaryTable, "add")], monkeypatch)
    bench.take(batches[2], 2)
    assert bench.rows() == table_of(events, tracked, partial=partial)
    version = spark.sql(f"DESCRIBE HISTORY {'.'.join(bench.key)}").count()
    bench.take(batches[1], 3)
    assert bench.rows() == table_of(events, tracked, partial=partial)
    assert spark.sql(f"DESCRIBE HISTORY {'.'.join(bench.key)}").count() == version, "a repeat writes nothing"
