"""Whose a record is, however broken, and what the suppression list leaves out (INV-20)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib
import json
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from fixtures.records import Message, heart_rate, line, user_info, workout
from pyspark import cloudpickle
from pyspark.sql import SparkSession

import wearables
from tests.wearables.byte_scan import Canary, scan
from wearables import erasure, suppression, transforms
from wearables.erasure import create_tables
from wearables.erasure.evidence import finish, rewrite_marked, vacuum
from wearables.jobs import erase as job
from wearables.jobs.erase import erase
from wearables.suppression import identifiers, moment, token, unsuppressed

KEY = "a key that only this test has"
CHANGE = line(user_info(10_007, {"update_type": "new", "timestamp": 1}, 1_576_482_430_123))
RATE = line(heart_rate(3_800_000_070, 1_576_482_430.25, 80.0, 1_576_482_430_123))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(CHANGE, ["device:10007", "user:10007"], id="a change"),
        pytest.param(CHANGE[:100], ["device:10007", "user:10007"], id="cut off"),
        pytest.param(
            CHANGE.replace('"value": "', '"value": "%'), ["device:10007", "user:10007"], id="no base64"
        ),
        pytest.param(json.dumps({"unreadable": CHANGE}), ["device:10007", "user:10007"], id="in a row"),
        pytest.param(RATE, ["device:3800000070", "user:3800000070"], id="a heart rate"),
        pytest.param(
            line(Message("workout", 7, 0, '{"user_id": "10007", "timestamp": 1}')),
            ["device:7", "user:10007", "user:7"],
            id="another sender, an id as text",
        ),
        pytest.param(
            '{"topic":"bpm","timestamp":1000,"key":"200000","record":"{\\"device_id\\": 200001}"}',
            ["device:200000", "device:200001", "user:200000"],
            id="a correction",
        ),
        pytest.param('{"mac": "02:00:E2:7f:c0:00", "gym": "north"}', ["mac:02:00:e2:7f:c0:00"], id="a visit"),
        pytest.param(
            '{"device_id": null, "mac_address": "02:00:00:00:00:00", "user_id": 1}',
            ["mac:02:00:00:00:00:00", "user:1"],
            id="a registration",
        ),
        pytest.param('{"user_id": "", "zip": 10007}', [], id="no one"),
        pytest.param("gateway restarted", [], id="no record"),
    ],
)
def test_identifiers_are_found_in_lines_and_rows_also_broken_ones(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHANGE, 1_576_482_430.123),
        (json.dumps({"unreadable": RATE}), 1_576_482_430.123),
        (CHANGE[:60], None),
        ('{"registration_timestamp":1.5764824305E9,"user_id":1}', 1_576_482_430.5),
        ('{"mac": "02", "first_timestamp": 1.0, "last_timestamp": 7.5}', 7.5),
        ('{"last_timestamp": 1.E.E}', None),
    ],
)
def test_the_time_of_a_record_is_the_gateways(text: str, expected: float | None) -> None:
    assert moment(text) == expected


@pytest.mark.parametrize(
    ("function", "expected"), [(identifiers, ["device:7", "user:7"]), (moment, 0.001)], ids=["names", "time"]
)
def test_functions_reach_the_workers_also_after_their_module_was_imported_again(
    function: Callable[[str], Any], expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipeline imports its modules for each update: functions of before are then sent by value."""
    monkeypatch.setattr(wearables, "suppression", suppression)
    monkeypatch.delitem(sys.modules, "wearables.suppression")
    assert importlib.import_module("wearables.suppression") is not suppression
    sent = cloudpickle.loads(cloudpickle.dumps(function))
    assert sent('{"key":"Nw==","user_id":7,"timestamp":1}') == expected


def test_tokens_are_keyed() -> None:
    digest = hmac.new(KEY.encode(), b"user:10007", hashlib.sha256).hexdigest()
    assert token("user:10007", KEY) == digest[:32] != token("user:10007", "another")


def test_records_up_to_the_limit_and_those_without_a_time_are_left_out(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = datetime.fromtimestamp(1_576_482_430.123, timezone.utc)
    listed = [(token(name, KEY), limit) for name in ("user:10007", "device:3800000070", "user:1", "user:1")]
    suppressed = spark.createDataFrame(listed, "token STRING, until TIMESTAMP")
    later = CHANGE.replace("1576482430123", "1576482430124")
    lines = [CHANGE, RATE, later, CHANGE[:100], line(workout(10_008, 1, "start", 1, 1)), "gateway", None]
    records = spark.createDataFrame([(text,) for text in lines], "text STRING")
    kept = unsuppressed(records, suppressed, KEY)
    assert {row["text"] for row in kept.collect()} == {later, lines[4], "gateway", None}
    assert kept.columns == ["text"]
    kept.explain("extended")
    plan = capsys.readouterr().out
    assert "_token" in plan and KEY not in plan
    assert unsuppressed(records, suppressed.limit(0), KEY).count() == len(lines)


SCHEMA = "main.erased"


@pytest.fixture
def landing(spark: SparkSession, tmp_path: Path) -> Path:
    """Two people with one device each and a shared one, in bronze, in registrations and in files."""
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    create_tables(spark, SCHEMA)
    people = {1: 900_001, 2: 900_002}
    # The greater id is erased: it is the one that an aggregate of the two would keep.
    registrations = [*people.items(), (1, 900_003), (0, 900_003)]
    spark.createDataFrame(
        [(device, f"02:{device}", 1.0, user, None) for user, device in registrations],
        "device_id BIGINT, mac_address STRING, registration_timestamp DOUBLE, user_id BIGINT, "
        "unreadable STRING",
    ).write.saveAsTable(f"{SCHEMA}.registrations")
    messages = [heart_rate(device, 1.0, 80.0, 1000) for device in (900_001, 900_002, 900_003)]
    for user in people:
        messages.append(
            user_info(user, {"update_type": "new", "timestamp": 1_576_000_000}, 1_576_000_000_000)
        )
        messages.append(workout(user, 1.0, "start", 1, 1000))
    lines = [line(each) for each in messages]
    (tmp_path / "daily").mkdir()
    (tmp_path / "daily" / "a.json").write_text("\n".join([*lines, lines[0], lines[0][:60]]) + "\n")
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "b.json").write_text(lines[1] + "\n")
    fields = [json.loads(each) for each in lines]
    rows = [
        (
            base64.b64decode(each["key"]),
            base64.b64decode(each["value"]),
            each["topic"],
            each["timestamp"],
            None,
        )
        for each in fields
    ]
    bronze = spark.createDataFrame(
        [*rows, rows[0]], "key BINARY, value BINARY, topic STRING, timestamp BIGINT, unreadable STRING"
    ).selectExpr("*", "0L partition", "0L offset", "'a.json' source_file")
    bronze.write.saveAsTable(f"{SCHEMA}.bronze")
    return tmp_path


def request(spark: SparkSession, name: str, user: int | None) -> None:
    spark.createDataFrame([(name, user)], "request_id STRING, user_id BIGINT").createOrReplaceTempView(
        "requests"
    )
    spark.sql(f"INSERT INTO {SCHEMA}.erasure_requests (request_id, user_id) SELECT * FROM requests")


def state(spark: SparkSession) -> dict[str, tuple[str, int | None, dict[str, int]]]:
    rows = spark.table(f"{SCHEMA}.erasure_requests").collect()
    return {row["request_id"]: (row["status"], row["user_id"], row["found"]) for row in rows}


def people_left(spark: SparkSession, landing: Path) -> set[str]:
    texts = [row["value"].decode() for row in spark.table(f"{SCHEMA}.bronze").collect()]
    texts += [
        str(name)
        for file in landing.rglob("*.json")
        for text in file.read_text().splitlines()
        for name in identifiers(text)
    ]
    return {each for each in ("900001", "900002", "900003") if any(each in text for text in texts)}


@pytest.mark.slow
def test_an_erasure_continues_after_a_crash_keeps_shared_devices_and_counts_once(
    spark: SparkSession, landing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request(spark, "nameless", None)
    assert erase(spark, SCHEMA, landing, KEY) == job.Erased(1, 0, 0), "a request alone ends, too"
    for _ in range(2):
        request(spark, "first", 1)
    request(spark, "unknown", 77)

    def crash(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(erasure, "remove", crash)
    with pytest.raises(OSError, match="disk full"):
        erase(spark, SCHEMA, landing, KEY)
    monkeypatch.undo()
    assert {name for name, (status, _, _) in state(spark).items() if status == "requested"} == {
        "first",
        "unknown",
    }

    done = erase(spark, SCHEMA, landing, KEY)
    # Bronze: 2 heart rates, a change, a workout; registrations: 2.
    assert (done.requests, done.rows, done.lines) == (3, 6, 0), "a request that was added twice is one"
    assert state(spark) == {
        "first": ("erased", None, {"bronze": 4, "registrations": 2, "landing": 5}),
        "unknown": ("erased", None, {}),
        "nameless": ("erased", None, {}),
    }
    assert people_left(spark, landing) == {"900002", "900003"}
    registered = spark.table(f"{SCHEMA}.registrations").select("user_id", "device_id").collect()
    assert {tuple(row) for row in registered} == {(2, 900_002), (0, 900_003)}
    assert erase(spark, SCHEMA, landing, KEY) == job.Erased(0, 0, 0)
    for name in ("bronze", "erasure_requests", "suppressed"):
        operations = json.dumps(commits(spark, f"{SCHEMA}.{name}"))
        assert "MERGE" in operations and "900001" not in operations, name


@pytest.mark.slow
def test_records_that_are_delivered_again_have_evidence_of_their_own(
    spark: SparkSession, landing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivered = (landing / "daily" / "a.json").read_text()
    request(spark, "first", 1)
    erase(spark, SCHEMA, landing, KEY)
    assert finish(spark, SCHEMA, ["bronze"], KEY, "0 seconds") == {"done": 1}
    assert not erasure.in_computed_tables(spark, SCHEMA)

    (landing / "daily" / "again.json").write_text(delivered)
    monkeypatch.setattr(erasure, "remove", lambda *_: pytest.fail("no table has the person"))
    assert erase(spark, SCHEMA, landing, KEY) == job.Erased(0, 0, 5)
    (row,) = spark.table(f"{SCHEMA}.erasure_requests").filter("source = 'again'").collect()
    assert (row["status"], row["found"]) == ("erased", {"landing": 5})
    assert (row["deadline"] - row["requested"]).days == 30
    assert erasure.in_computed_tables(spark, SCHEMA)
    assert erase(spark, SCHEMA, landing, KEY) == job.Erased(0, 0, 0)
    assert finish(spark, SCHEMA, ["bronze"], KEY, "0 seconds") == {"done": 2}
    assert not erasure.in_computed_tables(spark, SCHEMA)


@pytest.mark.slow
def test_ids_of_requests_may_have_any_character(spark: SparkSession, landing: Path) -> None:
    for name in ("o'neil", "back\\slash\\", "plain"):
        request(spark, name, 77)
    erase(spark, SCHEMA, landing, KEY)
    assert {status for status, *_ in state(spark).values()} == {"erased"}
    assert finish(spark, SCHEMA, ["bronze"], KEY, "0 seconds") == {"not found": 3}


def commits(spark: SparkSession, table: str) -> list[object]:
    """What the log of a table records of each operation."""
    (location,) = spark.sql(f"DESCRIBE DETAIL {table}").select("location").collect()[0]
    files = Path(location.removeprefix("file:")).glob("_delta_log/*.json")
    actions = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [action["commitInfo"] for action in actions if "commitInfo" in action]


@pytest.mark.slow
def test_a_delete_of_the_crm_is_a_request_and_a_return_ends_what_is_erased(
    spark: SparkSession, landing: Path
) -> None:
    second = 1_576_000_001
    changes = [("delete", second), ("new", second + 10)]
    rows = [user_info(1, {"update_type": kind, "timestamp": at}, at * 1000) for kind, at in changes]
    spark.createDataFrame(
        [(b"1", each.payload.encode(), "user_info", each.received, None) for each in rows],
        "key BINARY, value BINARY, topic STRING, timestamp BIGINT, unreadable STRING",
    ).selectExpr("*", "0L partition", "0L offset", "'a.json' source_file").write.mode("append").saveAsTable(
        f"{SCHEMA}.bronze"
    )
    done = erase(spark, SCHEMA, landing, KEY)
    assert (done.requests, done.rows) == (1, 7)
    (row,) = spark.table(f"{SCHEMA}.erasure_requests").collect()
    assert (row["source"], row["status"], row["user_id"]) == ("crm", "erased", None)
    assert row["requested"].timestamp() == second and (row["deadline"] - row["requested"]).days == 30
    left = transforms.user_changes(spark.table(f"{SCHEMA}.bronze")).filter("user_id = 1").collect()
    assert [each["update_type"] for each in left] == ["new"]
    assert erase(spark, SCHEMA, landing, KEY) == job.Erased(0, 0, 0)


def marked_people(spark: SparkSession) -> None:
    """Make a table of nine people, of whom a deletion vector marks one."""
    spark.sql("DROP SCHEMA IF EXISTS main.purged CASCADE")
    spark.sql("CREATE SCHEMA main.purged")
    spark.sql(
        "CREATE OR REPLACE TABLE main.purged.people (name STRING) TBLPROPERTIES "
        "('delta.enableDeletionVectors' = 'true', 'delta.dataSkippingNumIndexedCols' = '0')"
    )
    spark.sql("INSERT INTO main.purged.people SELECT concat('Qx', id) FROM range(0, 9, 1, 1)")
    spark.sql("DELETE FROM main.purged.people WHERE name LIKE '%7'")


def test_the_retention_begins_after_marked_rows_are_rewritten(spark: SparkSession) -> None:
    """Files that are replaced after the time of the evidence would outlive a request that is done."""
    marked_people(spark)
    create_tables(spark, "main.purged")
    spark.sql(
        "INSERT INTO main.purged.erasure_requests (request_id, source, requested, deadline, status, subject) "
        "VALUES ('r1', 'api', now(), now() + INTERVAL 30 DAYS, 'erased', 's1')"
    )
    assert finish(spark, "main.purged", ["people"], KEY, "7 days") == {"erased": 1}
    (rewritten,) = spark.sql("SELECT unix_millis(rewritten) FROM main.purged.erasure_requests").collect()[0]
    history = spark.sql("DESCRIBE HISTORY main.purged.people").where("operation = 'REORG'")
    (replaced,) = history.selectExpr("unix_millis(timestamp)").collect()[0]
    assert replaced <= rewritten


@pytest.mark.slow
def test_purge_removes_replaced_files_and_rows_behind_deletion_vectors_after_the_bundles_retention(
    spark: SparkSession,
) -> None:
    marked_people(spark)
    (location,) = spark.sql("DESCRIBE DETAIL main.purged.people").select("location").collect()[0]
    folder, canary = Path(location.removeprefix("file:")), Canary(("Qx7",), ())
    assert len(scan(folder, canary)) == 1
    rewrite_marked(spark, "main.purged", ["people"])
    assert vacuum(spark, "main.purged", ["people"], "0 seconds") == {"people": 0}
    assert scan(folder, canary) == []
    assert spark.table("main.purged.people").count() == 8
