"""Many faults, large and strange values, lost secrets and full disks: nothing is lost or half-erased."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fixtures.records import Message, line
from pyspark.sql import SparkSession

from tests.wearables.test_people import Secrets
from tests.wearables.test_rules import bronze
from wearables import transforms
from wearables.erasure import clean_landing
from wearables.jobs.keys import KeyLostError, provide_key
from wearables.suppression import KEY, identifiers

_MEGABYTES = 10


def test_a_payload_of_ten_megabytes_is_a_record_like_any_other(spark: SparkSession) -> None:
    text = "x" * (_MEGABYTES << 20)
    known = {"device_id": 200_000, "time": 1.5e9, "heartrate": 60.0, "note": text}
    large: list[dict[str, Any]] = [
        {"payload": known},
        {"payload": {**known, "device_id": None}},
        {"topic": "gym", "payload": {"note": text}},
        {"value": "%" + text},
    ]
    records = bronze(spark, *large)
    found = transforms.quarantined_records(records).selectExpr("offset", "failed_rules[0]", "length(record)")
    rows = {row[0]: tuple(row)[1:] for row in found.collect()}
    assert {offset: rule for offset, (rule, _) in rows.items()} == {
        1: "device_id_present", 2: "topic_known", 3: "record_readable"
    }  # fmt: skip
    assert min(length for _, length in rows.values()) > _MEGABYTES << 20


def test_people_are_found_in_lines_of_ten_megabytes_broken_ones_too() -> None:
    payload = json.dumps({"user_id": 10_007, "note": "y" * (_MEGABYTES << 20), "device_id": 3_800_000_070})
    whole = line(Message("user_info", 10_007, 1_576_482_430_123, payload))
    assert identifiers(whole) == ["device:10007", "device:3800000070", "user:10007"]
    assert identifiers(whole[: len(whole) // 2]) == ["device:10007", "user:10007"]


USER_IDS = (None, "", "9" * 1000, -1, 0, 2**63 - 1, 2**63, True, 1.5, [1], {"a": 1})


def test_a_user_id_of_any_kind_is_in_silver_or_in_quarantine(spark: SparkSession) -> None:
    change = {"update_type": "new", "timestamp": 1_576_000_000, "dob": "01/01/1990", "address": {"zip": 1}}
    start = {"workout_id": 1, "timestamp": 1.5e9, "action": "start", "session_id": 1}
    rows = [
        {"topic": topic, "payload": {**fields, "user_id": user}, "timestamp": 1_576_000_000_000, "offset": at}
        for topic, fields in (("user_info", change), ("workout", start))
        for at, user in enumerate(USER_IDS)
    ]
    refused = transforms.quarantined_records(bronze(spark, *rows)).select("topic", "offset").collect()
    valid = {at for at, user in enumerate(USER_IDS) if type(user) is int and user < 2**63}
    assert {tuple(row) for row in refused} == {
        (topic, at) for topic in ("user_info", "workout") for at in range(len(USER_IDS)) if at not in valid
    }


@pytest.mark.parametrize(("key", "advice"), [(KEY, "request the erasures again"), ("pseudonym-1", "rotate")])
def test_a_lost_key_is_not_replaced_and_the_message_has_the_way_back(
    spark: SparkSession, key: str, advice: str
) -> None:
    table = "main.default.made_with_a_lost_key"
    spark.sql(f"CREATE OR REPLACE TABLE {table} AS SELECT 't' AS token, '{key}' AS key_name")
    secrets = Secrets()
    workspace: Any = SimpleNamespace(secrets=secrets)
    with pytest.raises(KeyLostError, match=f"The secret {key} of the scope s is missing.*{advice}"):
        provide_key(spark, workspace, table=table, scope="s", key=key)
    assert secrets.scopes == {"s": {}}


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_full_disk_during_erasure_leaves_the_file_whole_and_the_next_attempt_completes(
    full_disk: Callable[[int], Path], suffix: str
) -> None:
    landing = full_disk(1 << 20)
    noise = base64.b64encode(bytes(range(256)) * 3).decode()
    lines = [
        json.dumps(
            {"key": base64.b64encode(str(user).encode()).decode(), "value": f"{at}{noise}", "timestamp": 1}
        )
        for at in range(500)
        for user in (10_001, 10_002)
    ]
    content = "".join(f"{each}\n" for each in lines).encode()[: 500 << 10].rpartition(b"\n")[0] + b"\n"
    file = landing / "daily" / f"a.json{suffix}"
    file.parent.mkdir()
    file.write_bytes(gzip.compress(content, 0, mtime=0) if suffix else content)
    before = file.read_bytes()
    filler = landing / "filler"
    with filler.open("wb", buffering=0) as rest, suppress(OSError):
        while rest.write(b"x" * 1024):
            pass
    erased = {
        file.name: {hashlib.sha256(each).hexdigest() for each in content.split(b"\n") if b"MTAwMDE=" in each}
    }
    with pytest.raises(OSError, match="No space left"):
        clean_landing(landing, erased)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name], "nothing unfinished takes space"
    filler.unlink()
    assert clean_landing(landing, erased) == content.count(b"MTAwMDE=")
    left = gzip.decompress(file.read_bytes()) if suffix else file.read_bytes()
    assert b"MTAwMDE=" not in left and left.count(b"MTAwMDI=") == content.count(b"MTAwMDI=")
