"""The streams equal computations in plain Python, with restarts between deliveries (INV-12, INV-13)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fixtures.generate import generate
from fixtures.records import Message, heart_rate, line, workout
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeward.session import Settings, session
from tests.wearables.frames import read
from tests.wearables.oracle import lakehouse
from wearables import transforms
from wearables.streams import TABLES, Streams, reset

pytestmark = pytest.mark.slow

SCHEMA = "main.streamed"
MINUTE = 60_000_000
# A device whose records move the watermark past all others, and one that is registered late.
AHEAD, UNREGISTERED = 999_999, 888_888
DAY = 86_400
LAST = 1_576_454_400 + 20 * DAY
# Ten days older than everything that has arrived before it.
LATE = (3_800_000_000, 1_576_459_999.5, 77.0)
# A start of a workout without heart rates: user, workout, second, action, session.
QUIET = (10_001, 6, 1_576_461_600, "start", 5)


@dataclass
class Seen:
    """What the streams wrote, and what the generator's data give."""

    source: Path
    rows: dict[str, Counter[tuple[Any, ...]]] = field(default_factory=dict)
    late: list[dict[str, int]] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    progress: list[Any] = field(default_factory=list)
    rolling: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    again: dict[str, int] = field(default_factory=dict)
    left: list[Path] = field(default_factory=list)
    damage: str = ""


def message(device: int, time: float) -> Message:
    return heart_rate(device, time, 60.5, int(time * 1000))


def deliveries(source: Path, folder: Path) -> Iterator[list[Path]]:
    """The days in two halves, then records that move the watermark, then one that is late and repeats."""
    days = sorted((source / "daily").iterdir())
    extra = [
        [
            *(message(UNREGISTERED, 1_576_500_000.0 + second) for second in range(3)),
            workout(QUIET[0], QUIET[2], "start", QUIET[4], QUIET[2] * 1000),
        ],
        [message(AHEAD, LAST), workout(99, LAST, "start", 1, LAST * 1000)],
        [
            heart_rate(*LATE, LAST * 1000),
            message(UNREGISTERED, 1_576_500_000.0),
            message(AHEAD, LAST + 1),
            workout(99, LAST + 1, "start", 1, LAST * 1000),
        ],
    ]
    for number, (files, messages) in enumerate(zip((days[:2], days[2:], []), extra, strict=True)):
        added = folder / f"extra-{number}.json"
        added.write_text("".join(line(each) + "\n" for each in messages))
        yield [*files, added]


@pytest.fixture(scope="module")
def seen(suite_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    spark, folder = session(suite_settings), tmp_path_factory.mktemp("streams")
    source = folder / "source"
    generate(source, users=4, days=4, seed=7, longest=90)
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    registered = [(device, 1.0, user) for device, _, _, user, _ in lakehouse(source).registered_users]
    registered += [(AHEAD, 1.0, 99), (3_800_000_000, 2.0, 77)]
    columns = "device_id BIGINT, registration_timestamp DOUBLE, user_id BIGINT"
    spark.createDataFrame(registered, columns).write.saveAsTable(f"{SCHEMA}.registered_users")
    found = Seen(source)
    streams = Streams(spark, SCHEMA, str(folder / "checkpoints"))
    for files in deliveries(source, folder):
        lines = read(spark, files, transforms.RECORD_SCHEMA)
        transforms.kafka_records(lines).write.mode("append").saveAsTable(f"{SCHEMA}.bronze")
        found.late.append(streams.run())
        found.missing.append(rows_of(spark, "heart_rate_wearers").filter("user_id IS NULL").count())
        late_registration = spark.createDataFrame([(UNREGISTERED, 1.0, 98)], columns)
        late_registration.write.mode("append").saveAsTable(f"{SCHEMA}.registered_users")
    found.rows = {name: plain(rows_of(spark, name)) for name in TABLES if name != "stream_progress"}
    found.progress = rows_of(spark, "stream_progress").collect()
    found.rolling = plain(rows_of(spark, "heart_rate_rolling"))
    found.damage = error_after_damage(streams, folder / "checkpoints" / "heart_rate_minutes" / "offsets")
    reset(spark, SCHEMA, str(folder / "checkpoints"))
    found.left = list((folder / "checkpoints").rglob("*"))
    streams.run()
    found.again = {name: rows_of(spark, name).count() for name in TABLES}
    return found


def error_after_damage(streams: Streams, offsets: Path) -> str:
    """Cut the newest file of a checkpoint off, and return what the next run reports."""
    newest = max(offsets.glob("[0-9]*"), key=lambda file: int(file.name))
    newest.write_text(newest.read_text()[:20])
    newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
    with pytest.raises(Exception) as error:  # noqa: PT011  # whatever Spark raises
        streams.run()
    return str(error.value)


def rows_of(spark: SparkSession, name: str) -> DataFrame:
    return spark.table(f"{SCHEMA}.{name}")


def plain(frame: DataFrame) -> Counter[tuple[Any, ...]]:
    """Rows with times in microseconds, without the device that only moves the watermark."""
    kept = frame.filter(f"device_id <> {AHEAD}") if "device_id" in frame.columns else frame
    columns = [
        F.unix_micros(name).alias(name) if kind == "timestamp" else F.col(f"`{name}`")
        for name, kind in frame.dtypes
    ]
    return Counter(tuple(row) for row in kept.select(*columns).collect())


def measured(seen: Seen, *, late: bool) -> list[tuple[int, int, float]]:
    rates = [(device, time, rate) for device, time, rate, _ in lakehouse(seen.source).heart_rate]
    rates += [(UNREGISTERED, (1_576_500_000 + second) * 1_000_000, 60.5) for second in range(3)]
    return rates + [(LATE[0], int(LATE[1] * 1_000_000), LATE[2])] * late


def actions(seen: Seen) -> list[tuple[Any, ...]]:
    quiet = (*QUIET[:2], QUIET[2] * 1_000_000, *QUIET[3:])
    return [*(row[:-1] for row in lakehouse(seen.source).workouts), quiet]


def statistics(groups: dict[tuple[int, int, int], list[float]]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for key, rates in groups.items():
        exact = [Decimal(str(rate)) for rate in rates]
        row = (*key, len(rates), sum(exact), min(exact), max(exact))
        found[row] += 1
    return found


def test_each_event_is_in_the_tables_once_and_what_the_watermark_dropped_is_listed(seen: Seen) -> None:
    assert seen.rows["heart_rate_stream"] == Counter(measured(seen, late=True))
    listed = {row[:3] for row in seen.rows["heart_rate_stream_late"]}
    assert listed == {(LATE[0], int(LATE[1] * 1_000_000), LATE[2])}
    assert seen.late == [{"bpm": 0, "workout": 0}, {"bpm": 0, "workout": 0}, {"bpm": 1, "workout": 0}]
    events = actions(seen)
    ours = {row: count for row, count in seen.rows["workouts_stream"].items() if row[0] != 99}
    assert ours == Counter(events) and seen.rows["workouts_stream_late"] == Counter()


def test_tumbling_windows_in_append_mode_equal_a_batch(seen: Seen) -> None:
    groups: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for device, time, rate in measured(seen, late=False):
        start = time // MINUTE * MINUTE
        groups[device, start, start + MINUTE].append(rate)
    assert seen.rows["heart_rate_minutes"] == statistics(groups)


def test_sliding_windows_in_update_mode_equal_a_batch(seen: Seen) -> None:
    groups: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for device, time, rate in measured(seen, late=False):
        last = time // MINUTE * MINUTE
        for start in range(last - 4 * MINUTE, last + MINUTE, MINUTE):
            groups[device, start, start + 5 * MINUTE].append(rate)
    assert seen.rows["heart_rate_sliding"] == statistics(groups)


def test_session_windows_equal_a_batch(seen: Seen) -> None:
    groups: dict[tuple[int, int, int], list[float]] = {}
    rates = sorted(measured(seen, late=False))
    start = previous = None
    gathered: list[float] = []
    for device, time, rate in [*rates, (-1, 0, 0.0)]:
        if (
            previous is not None
            and start is not None
            and (device != previous[0] or time >= previous[1] + 5 * MINUTE)
        ):
            groups[previous[0], start, previous[1] + 5 * MINUTE] = gathered
            start, gathered = time, []
        start = time if start is None else start
        gathered.append(rate)
        previous = (device, time)
    assert seen.rows["heart_rate_sittings"] == statistics(groups)


def test_complete_mode_equals_a_batch(seen: Seen) -> None:
    counts = Counter((device, int(rate // 10) * 10) for device, _, rate in measured(seen, late=True))
    assert seen.rows["heart_rate_zones"] == Counter({(*key, count): 1 for key, count in counts.items()})


def test_the_rolling_view_has_the_mean_of_the_last_minute(seen: Seen) -> None:
    by_device: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for device, time, rate in measured(seen, late=True):
        by_device[device].append((time, rate))
    expected: Counter[tuple[Any, ...]] = Counter()
    for device, rates in by_device.items():
        for time, rate in rates:
            near = [other for at, other in rates if time - MINUTE <= at <= time]
            expected[device, time, rate, sum(near) / len(near)] += 1
    assert seen.rolling == expected


def test_the_interval_join_equals_a_batch_and_outer_rows_appear_once(seen: Seen) -> None:
    """INV-13."""
    devices: dict[int, list[int]] = defaultdict(list)
    for device, _, _, user, _ in lakehouse(seen.source).registered_users:
        devices[user].append(device)
    rates = measured(seen, late=False)
    expected: Counter[tuple[Any, ...]] = Counter()
    for user, _, start, action, session_id in actions(seen):
        for device in devices[user] if action == "start" else ():
            near = [
                (time, rate) for of, time, rate in rates if of == device and 0 <= time - start <= 60 * MINUTE
            ]
            if not near:
                expected[user, session_id, device, start, None, None] += 1
            for time, rate in near:
                expected[user, session_id, device, start, time, rate] += 1
    assert seen.rows["workout_rates"] == expected
    assert any(row[-1] is None for row in expected) and any(row[-1] is not None for row in expected)


def test_rows_with_a_late_dimension_are_repaired_and_record_the_version(seen: Seen) -> None:
    assert seen.missing == [3, 0, 0]
    rows = seen.rows["heart_rate_wearers"]
    owners = {device: user for device, _, _, user, _ in lakehouse(seen.source).registered_users}
    assert Counter(row[:4] for row in rows) == Counter(
        (device, time, rate, {**owners, UNREGISTERED: 98}[device])
        for device, time, rate in measured(seen, late=True)
    )
    versions = {row[0]: row[4] for row in rows}
    assert versions[UNREGISTERED] > min(row[4] for row in rows)


def test_a_damaged_checkpoint_stops_the_streams_and_a_reset_computes_them_again(seen: Seen) -> None:
    assert seen.damage
    for name in ("heart_rate_stream", "workouts_stream", "heart_rate_zones"):
        assert seen.again[name] >= seen.rows[name].total(), name


def test_state_is_bounded_shown_and_gone_after_a_reset(seen: Seen) -> None:
    of_dedupe = [row for row in seen.progress if row["query"] == "heart_rate_stream"]
    assert max(row["state_rows"] for row in of_dedupe) > 1000
    assert of_dedupe[-1]["state_rows"] < 10, "the watermark has passed all but the newest"
    assert sum(row["late_rows"] for row in of_dedupe) >= 1
    assert seen.left == []
    assert seen.again["heart_rate_stream"] == seen.rows["heart_rate_stream"].total() + 2
