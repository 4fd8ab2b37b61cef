"""The job `erasure`: complete, physical, audited, and for good (INV-19, INV-20)."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fixtures.generate import generate

from lakeward import jobs
from lakeward.session import session
from tests.wearables.byte_scan import Canary, scan
from tests.wearables.company import Company
from tests.wearables.model import parts
from tests.wearables.oracle import lakehouse

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.slow]

ERASED, DEVICE, MAC = 10_002, 3_800_000_020, "02:00:00:7f:66:14"
RETURNED = (10_007, 3_800_000_070, "02:00:00:7f:66:46")
UNKNOWN = 4_711
CANARY = Canary(("Qxcanary", "Qxvarnish", "Qxwharf", MAC), (ERASED, DEVICE))


@dataclass
class Story:
    """What was seen after each step."""

    company: Company
    seen: dict[str, list[str]] = field(default_factory=dict)
    differences: dict[str, Any] = field(default_factory=dict)
    requests: dict[str, list[Any]] = field(default_factory=dict)
    states: list[dict[str, str]] = field(default_factory=list)
    audit: list[Any] = field(default_factory=list)

    def look(self, step: str, expected: Path | None = None) -> None:
        spark, schema = session(self.company.settings), self.company.schema
        self.seen[step] = scan(self.company.settings.home, CANARY)
        if expected is not None:
            self.differences[step] = self.company.differences(lakehouse(expected))
        self.requests[step] = spark.table(f"{schema}.erasure_requests").collect()
        self.audit = spark.table(f"{schema}.erasure_audit").collect()

    def run(self, job: str, *only: str, **parameters: str) -> None:
        options = jobs.RunOptions(parameters=parameters, only=only)
        run = jobs.run(self.company.bundle, job, settings=self.company.settings, options=options)
        found = {task.task_key: (task.state, task.error) for task in run.tasks}
        assert {state for state, _ in found.values()} <= {"SUCCESS", "EXCLUDED"}, found
        self.states.append({name: state for name, (state, _) in found.items()})


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("erasure")
    source = folder / "source"
    generate(source, users=8, days=7, seed=3, longest=60)
    rewrite(source, with_canaries)
    done = Story(Company(folder / "lakehouse", retention="0 seconds"))
    done.run("daily", "land", "keys", "refresh", source=str(source))
    done.look("before")

    spark, requests = session(done.company.settings), f"{done.company.schema}.erasure_requests"
    spark.sql(
        f"INSERT INTO {requests} (request_id, user_id, requested) VALUES ('a', {ERASED}, now()), "
        f"('twice', {ERASED}, now()), ('unknown', {UNKNOWN}, now())"
    )
    done.run("erasure")
    remaining = shutil.copytree(source, folder / "remaining")
    back = return_of(source)
    rewrite(remaining, lambda line: None if belongs(line, back) else line)
    done.look("erased", remaining)

    # The oldest file again, under another name, and a further request of the same person.
    again = shutil.copytree(source, folder / "again")
    first = min((again / "daily").iterdir())
    shutil.copy(first, again / "daily" / f"2019-12-31-{first.name}")
    shutil.copy(min((remaining / "daily").iterdir()), remaining / "daily" / f"2019-12-31-{first.name}")
    done.run("daily", "land", "refresh", source=str(again))
    done.look("replayed", remaining)
    spark.sql(f"INSERT INTO {requests} (request_id, user_id, requested) VALUES ('again', {ERASED}, now())")
    # No table has the person: only the landed file is cleaned.
    done.run("erasure", "erase", "purge")
    done.look("erased again")

    # Nothing to erase, and then the oldest file once more, without a request.
    done.run("erasure")
    shutil.copy(first, again / "daily" / f"2019-12-30-{first.name}")
    done.run("daily", "land", source=str(again))
    done.run("erasure")
    done.look("delivered again")
    return done


def test_the_scan_finds_the_person_in_tables_histories_and_files_before(story: Story) -> None:
    found = "\n".join(story.seen["before"])
    for place in ("bronze/", "users/", "users_history/", "heart_rate/", "workout_bpm/", "registrations/"):
        assert f"wearables/{place}" in found, place
    assert "landing/daily" in found and "changes" in found


def test_personal_values_are_in_rows_and_landed_files_alone(story: Story) -> None:
    """Not in logs of tables, event logs, output of tasks, reports, offsets and schema locations (INV-21)."""
    # What AUTO CDC has read is in a table of its own, which a full refresh deletes as a whole.
    rows = re.compile(r"/warehouse/.+/[^_/][^/]*\.parquet$|/landing/|/changes %2A/")
    assert [name for name in story.seen["before"] if not rows.search(f"/{name}")] == []


def test_no_file_has_a_value_of_the_person_after_the_erasure(story: Story) -> None:
    """INV-19."""
    assert story.seen["erased"] == []
    assert story.seen["erased again"] == []


def test_a_file_that_is_delivered_again_brings_no_person_back(story: Story) -> None:
    """INV-20: the landed file has the person until the next erasure, no table has."""
    assert {Path(name).parent.name for name in story.seen["replayed"]} <= {"daily"}


@pytest.mark.parametrize("step", ["erased", "replayed"])
def test_all_tables_are_those_of_the_others_records_and_streams_continue(story: Story, step: str) -> None:
    assert story.differences[step] == {}


def test_every_request_ends_with_evidence(story: Story) -> None:
    statuses = {row["request_id"][:4]: row["status"] for row in story.requests["erased"]}
    assert statuses == {"a": "done", "twic": "done", "unkn": "not found", "crm-": "done"}
    rows = {row["request_id"][:4]: row for row in story.audit}
    assert set(rows) == {"a", "twic", "unkn", "crm-", "agai"}
    for row in rows.values():
        assert set(row["remaining"].values()) == {0} and set(row["vacuumed"].values()) == {0}
        assert row["in_time"] is (row["request_id"][:4] != "crm-"), "the CRM's deletes are of 2019"
    assert rows["a"]["found"]["bronze"] > 100 and rows["a"]["found"]["landing"] > 100
    assert rows["unkn"]["found"] == {} and rows["crm-"]["returned"]
    assert {row["user_id"] for row in story.requests["erased again"]} == {None}


def test_tables_are_computed_only_after_records_were_removed(story: Story) -> None:
    refreshed = [states["refresh"] for states in story.states if states.get("erase") == "SUCCESS"]
    assert refreshed == ["SUCCESS", "EXCLUDED", "EXCLUDED", "SUCCESS"]
    assert all(states["purge"] == "SUCCESS" for states in story.states if states.get("erase") == "SUCCESS")


def test_what_is_delivered_again_is_a_request_of_its_own(story: Story) -> None:
    new = [row for row in story.requests["delivered again"] if row["source"] == "again"]
    assert [(row["status"], row["user_id"], set(row["found"])) for row in new] == [
        ("done", None, {"landing"})
    ] * len(new)
    assert new and story.seen["delivered again"] == []


def rewrite(source: Path, change: Callable[[str], str | None]) -> None:
    """Change each line of the source folder, or leave it out."""
    for file in [*source.rglob("*.json"), *source.rglob("*.json.gz")]:
        content = file.read_bytes()
        text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
        lines = [changed for line in text.splitlines() if (changed := change(line)) is not None]
        whole = "".join(f"{line}\n" for line in lines).encode()
        file.write_bytes(gzip.compress(whole, mtime=0) if file.suffix == ".gz" else whole)


def with_canaries(line: str) -> str:
    record = parts(line)
    if record.get("topic") != "user_info" or f'"user_id": {ERASED}' not in record["value"]:
        return line
    payload = json.loads(record["value"])
    payload |= {"first_name": "Qxcanary", "last_name": "Qxvarnish"}
    payload["address"]["street_address"] = "7 Qxwharf"
    return line.replace(
        base64.b64encode(record["value"].encode()).decode(),
        base64.b64encode(json.dumps(payload).encode()).decode(),
    )


def belongs(line: str, back: float) -> bool:
    """Whether a line is erased, by the fields that the generator writes; RETURNED is back since `back`."""
    if is_of(line, (ERASED, DEVICE, MAC)):
        return True
    sent = re.search('"timestamp": ([0-9]+)', line)
    other = re.search('"(?:registration|last)_timestamp": ([0-9.]+)', line)
    time = int(sent.group(1)) / 1000 if sent else float(other.group(1)) if other else 0.0
    return is_of(line, RETURNED) and time < back


def is_of(line: str, person: tuple[int, int, str]) -> bool:
    user, device, mac = person
    record = parts(line)
    if "broken" in record:
        keys = [base64.b64encode(str(each).encode()).decode() for each in (user, device)]
        return any(key in line for key in (*keys, f'"user_id": {user}', mac))
    payload = str(record.get("value"))
    named = f'"user_id": {user}' in payload or f'"device_id": {device}' in payload
    ids = {str(record.get(name)) for name in ("key", "user_id", "device_id", "mac", "mac_address")}
    return named or bool(ids & {str(user), str(device), mac})


def return_of(source: Path) -> float:
    """When the CRM reported RETURNED as new after the delete, in seconds."""
    times: dict[str, list[int]] = {"new": [], "delete": []}
    for file in (source / "daily").iterdir():
        content = file.read_bytes()
        text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
        for record in map(parts, text.splitlines()):
            if record.get("topic") == "user_info" and f'"user_id": {RETURNED[0]}' in record["value"]:
                kind = json.loads(record["value"])["update_type"]
                times.setdefault(kind, []).append(record["timestamp"])
    return min(each for each in times["new"] if each > min(times["delete"])) / 1000
