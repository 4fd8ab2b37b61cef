"""Rules and transforms on a handful of records, where the answer can be read off (DM-7)."""

from __future__ import annotations

import base64
import json
from datetime import date, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from wearables import rules, transforms
from wearables.feeds import REGISTRATIONS
from wearables.streams import with_rates
from wearables.topics import BPM, WORKOUT
from wearables.transforms.validity import failed_rules, holds


def bronze(spark: SparkSession, *records: dict[str, Any]) -> DataFrame:
    """Bronze of records given as topic, payload (or value as text), and what differs from the ordinary."""
    lines = []
    for offset, record in enumerate(records):
        value = record.get("value", base64.b64encode(json.dumps(record.get("payload")).encode()).decode())
        place = (record.get("partition", 0), record.get("offset", offset), record.get("timestamp", 0))
        lines.append(
            (
                None,
                value,
                record.get("topic", "bpm"),
                *place,
                record.get("line"),
                record.get("file", "a"),
                None,
            )
        )
    schema = f"{transforms.RECORD_SCHEMA}, file_name STRING, _rescued_data STRING"
    return transforms.kafka_records(spark.createDataFrame(lines, schema))


def rate(time: float, heartrate: Any = 60.0, device: Any = 200_000, **rest: Any) -> dict[str, Any]:
    return {"payload": {"device_id": device, "time": time, "heartrate": heartrate}, **rest}


def event(
    time: float, action: str | None, session: int = 1, user: int | None = 1, workout: int = 1
) -> dict[str, Any]:
    fields = {
        "user_id": user,
        "workout_id": workout,
        "timestamp": time,
        "action": action,
        "session_id": session,
    }
    return {"topic": "workout", "payload": fields}


def unique(records: DataFrame) -> DataFrame:
    return transforms.events_once(records, BPM).filter(holds(rules.HEART_RATE))


def sessions(spark: SparkSession, *events: dict[str, Any]) -> DataFrame:
    events_once = transforms.events_once(bronze(spark, *events), WORKOUT)
    return transforms.sessions(events_once.filter(holds(rules.WORKOUT)))


def cells(frame: DataFrame, *columns: str) -> set[Any]:
    """The rows as tuples; a single column as bare values."""
    chosen = [F.unix_micros(c) / 1e6 if dict(frame.dtypes)[c] == "timestamp" else F.col(c) for c in columns]
    return {row[0] if len(columns) == 1 else tuple(row) for row in frame.select(*chosen).collect()}


def test_seconds_that_float_takes_for_one_stay_three(spark: SparkSession) -> None:
    times = (1576482430, 1576482431.0, 1576482490.25)
    assert cells(unique(bronze(spark, *map(rate, times))), "time") == set(times)


def test_microseconds_survive(spark: SparkSession) -> None:
    found = unique(bronze(spark, rate(1576482430.000001), rate(1576482430.999999)))
    assert {row[0] for row in found.select(F.unix_micros("time")).collect()} == {
        1576482430000001,
        1576482430999999,
    }


@pytest.mark.parametrize(
    ("day", "week"),
    [
        ("2019-12-29", "2019-52"),
        ("2019-12-30", "2020-01"),
        ("2021-01-03", "2020-53"),
        ("2021-01-04", "2021-01"),
    ],
)
def test_week_part_is_the_iso_week_of_the_utc_day(spark: SparkSession, day: str, week: str) -> None:
    last_moment = int(datetime.fromisoformat(f"{day}T23:59:59.999+00:00").timestamp() * 1000)
    found = bronze(spark, rate(1.5e9, timestamp=last_moment))
    assert cells(found, "date", "week_part") == {(date.fromisoformat(day), week)}


def test_validity_comes_before_uniqueness(spark: SparkSession) -> None:
    found = unique(bronze(spark, rate(1.5e9, -1.0, file="a"), rate(1.5e9, 70.0, file="b")))
    assert cells(found, "heartrate", "repeats") == {(70.0, 0)}


def test_among_repeats_the_earliest_file_then_the_lowest_partition_and_offset_stays(
    spark: SparkSession,
) -> None:
    found = unique(
        bronze(
            spark,
            rate(1.5e9, 61.0, file="2020-01-02.json", partition=0, offset=0),
            rate(1.5e9, 62.0, file="2020-01-01.json.gz", partition=1, offset=0),
            rate(1.5e9, 63.0, file="2020-01-01.json.gz", partition=0, offset=10),
            rate(1.5e9, 64.0, file="2020-01-01.json.gz", partition=0, offset=9),
        )
    )
    assert cells(found, "heartrate", "repeats") == {(64.0, 3)}


def test_a_stop_and_a_start_in_the_same_second_are_two_events(spark: SparkSession) -> None:
    records = bronze(spark, event(1.5e9, "stop"), event(1.5e9, "start"), event(1.5e9, "start"))
    found = transforms.events_once(records, WORKOUT)
    assert cells(found, "action", "repeats") == {("stop", 0), ("start", 1)}


@pytest.mark.parametrize(
    ("record", "failed"),
    [
        (rate(1.5e9, None), ("heartrate_present", "heartrate_positive")),
        (rate(1.5e9, 0.0), ("heartrate_positive",)),
        (rate(1.5e9, device=None), ("device_id_present", "device_id_in_range")),
        (rate(1.5e9, device=110_000), ("device_id_in_range",)),
        (rate(1262303999.999), ("time_plausible",)),
        (rate(1.5e9, "n/a"), ("payload_readable",)),
        (rate(1.5e9, float("nan")), ("payload_readable",)),
        (rate(1e300), ("payload_readable",)),
        ({"payload": None}, ("payload_readable",)),
        ({"value": None}, ("payload_readable",)),
        ({"value": "%%"}, ("record_readable",)),
        ({"line": '{"key": '}, ("record_readable",)),
        ({"topic": "gym", "payload": {}}, ("topic_known",)),
        ({"topic": None, "payload": {}}, ("topic_known",)),
        (event(1.5e9, None), ("action_present",)),
        (event(1.5e9, "start", user=None), ("user_id_present",)),
    ],
)
def test_what_fails_is_in_quarantine_with_the_names_of_its_rules_and_not_in_silver(
    spark: SparkSession, record: dict[str, Any], failed: tuple[str, ...]
) -> None:
    records = bronze(spark, record)
    assert [tuple(row.failed_rules) for row in transforms.quarantined_records(records).collect()] == [failed]
    events = transforms.events_once(records, WORKOUT)
    assert unique(records).isEmpty()
    assert events.filter(holds(rules.WORKOUT)).isEmpty()


def test_the_first_moment_of_2010_is_valid(spark: SparkSession) -> None:
    records = bronze(spark, rate(1262304000.0))
    assert unique(records).count() == 1
    assert transforms.quarantined_records(records).isEmpty()


def test_a_rule_without_an_answer_does_not_hold(spark: SparkSession) -> None:
    given = {"positive": "x > 0", "even": "x % 2 = 0"}
    judged = spark.createDataFrame([(2,), (1,), (-1,), (None,)], "x INT")
    found = judged.select("x", holds(given), failed_rules(given)).collect()
    assert {(x, ok, tuple(names)) for x, ok, names in found} == {
        (2, True, ()),
        (1, False, ("even",)),
        (-1, False, ("positive", "even")),
        (None, False, ("positive", "even")),
    }


def test_a_session_reaches_from_its_earliest_start_to_its_latest_stop(spark: SparkSession) -> None:
    found = sessions(
        spark,
        *(
            event(1.5e9 + time, action)
            for time, action in ((50, "stop"), (20, "start"), (0, "start"), (9, "stop"))
        ),
        event(1.5e9 + 5, "start", session=2),
        event(1.5e9 + 5, "stop", session=3),
        event(1.5e9 + 7, "start", session=1, user=2, workout=9),
    )
    assert cells(found, "user_id", "workout_id", "session_id", "start_time", "end_time", "in_progress") == {
        (1, 1, 1, 1.5e9, 1.5e9 + 50, False),
        (1, 1, 2, 1.5e9 + 5, None, True),
        (2, 9, 1, 1.5e9 + 7, None, True),
    }


def test_heart_rates_belong_to_every_finished_session_around_them_ends_included(spark: SparkSession) -> None:
    # Around midnight UTC: the join's days must not cut a session in two.
    midnight = 1576454400.0
    times = [midnight + second for second in (-11, -10, 0, 10, 11)]
    heart_rates = unique(bronze(spark, *map(rate, times), rate(midnight, device=200_001)))
    spans = sessions(
        spark,
        *(event(midnight - 10, "start"), event(midnight + 10, "stop")),
        *(event(midnight, "start", session=2), event(midnight + 86_400 * 3, "stop", session=2)),
        event(midnight - 100, "start", session=3),
        *(event(midnight + 20, "start", session=4), event(midnight - 20, "stop", session=4)),
    )
    registered = spark.createDataFrame(
        [(200_000, "x", 1), (200_000, "y", 1), (200_001, "z", 2)],
        "device_id BIGINT, mac STRING, user_id BIGINT",
    )
    found = transforms.recordings(heart_rates, spans, registered)
    assert cells(found, "session_id", "time") == {
        *((1, midnight + second) for second in (-10, 0, 10)),
        *((2, midnight + second) for second in (0, 10, 11)),
    }
    assert found.count() == 6
    summary = transforms.summary(found.withColumn("heartrate", F.unix_seconds("time") - midnight))
    assert cells(summary, "session_id", "min_bpm", "avg_bpm", "max_bpm", "num_recordings") == {
        (1, -10.0, 0.0, 10.0, 3),
        (2, 0.0, 7.0, 11.0, 3),
    }


def test_a_start_has_the_heart_rates_of_the_hour_after_it_ends_included_or_one_row_without(
    spark: SparkSession,
) -> None:
    """INV-13; `test_streams.py` joins two streams by the same function."""
    moment = 1576454400.0
    rates = unique(bronze(spark, *(rate(moment + second) for second in (-1, 0, 3600, 3601))))
    starts = spark.createDataFrame(
        [(200_000, 1, 1, moment), (200_000, 2, 2, moment + 7300), (200_009, 3, 3, moment)],
        "device_id BIGINT, user_id BIGINT, session_id BIGINT, at DOUBLE",
    ).withColumn("start_time", F.col("at").cast("timestamp"))
    found = with_rates(starts.drop("at"), rates.select("device_id", "time", "heartrate"))
    rows = cells(
        found.withColumn("after", F.expr("unix_seconds(time) - unix_seconds(start_time)")),
        "session_id",
        "after",
    )
    assert rows == {(1, 0), (1, 3600), (2, None), (3, None)} and found.count() == 4


def test_a_registration_counts_once_and_needs_device_and_user(spark: SparkSession) -> None:
    given = [
        *((1, "m", 5.0, 9, None, "b", None), (1, "m", 5.0, 9, None, "a", None)),
        (None, "m", 5.0, 9, None, "a", None),
        (None, None, None, None, "{", "a", None),
    ]
    lines = spark.createDataFrame(given, f"{REGISTRATIONS.schema}, file_name STRING, _rescued_data STRING")
    found = transforms.delivered_lines(lines, REGISTRATIONS)
    once = transforms.lines_once(found, REGISTRATIONS).filter(holds(rules.REGISTRATION))
    assert cells(once, "device_id", "user_id", "repeats") == {(1, 9, 1)}
    refused = transforms.quarantined_lines(found, REGISTRATIONS).collect()
    assert {tuple(row.failed_rules) for row in refused} == {("device_id_present",), ("record_readable",)}
