"""The views of the bundle are refreshed incrementally, unchanged in source."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.generate import generate
from pyspark.sql import DataFrame, SparkSession

from lakeward.pipelines.incremental.eligibility import check_eligibility
from lakeward.pipelines.incremental.view_plan import read_view_plan
from tests.wearables.company import Company
from tests.wearables.oracle import lakehouse
from wearables import transforms
from wearables.feeds import FEEDS
from wearables.topics import EVENTS, USER_INFO

pytestmark = pytest.mark.usefixtures("spark")
Tables = Callable[[str], DataFrame]
_LINE = "file_name STRING, _corrupt_record STRING, _rescued_data STRING"


def bundle_views(spark: SparkSession, table: Tables, keep: Callable[[str, DataFrame], None]) -> None:
    """Compute every view of the bundle from the tables that it reads; each is kept under its name."""
    record = spark.createDataFrame([], f"{transforms.RECORD_SCHEMA.rpartition(',')[0]}, {_LINE}")
    keep("bronze", transforms.kafka_records(record))
    for feed in FEEDS:
        fields = ", ".join(f"{name} {kind}" for name, kind in feed.fields.items())
        keep(feed.name, transforms.delivered_lines(spark.createDataFrame([], f"{fields}, {_LINE}"), feed))
        keep(feed.target, transforms.lines_once(table(feed.name), feed))
    for topic in EVENTS:
        keep(topic.target, transforms.events_once(table("bronze"), topic))
    changed = transforms.user_changes(table("bronze"))
    keep("users", changed.select(*(each for each in USER_INFO.columns if each != "update_type")))
    keep("completed_workouts", transforms.sessions(table("workouts")))
    inputs = (table(name) for name in ("heart_rate", "completed_workouts", "registered_users"))
    keep("workout_bpm", transforms.recordings(*inputs))
    keep("workout_bpm_summary", transforms.summary(table("workout_bpm")))
    known = table("users").select("user_id").unionByName(table("registered_users").select("user_id"))
    keep("user_keys", transforms.pseudonyms(known, key="k", key_name="one"))
    keep("user_bins", transforms.age_bands(table("users"), table("user_keys"), table("bronze")))
    keep("date_lookup", transforms.dates(spark))
    keep("quality_rules", transforms.quality_rules(spark))
    inputs = (table(name) for name in ("workout_bpm", "user_keys", "date_lookup"))
    keep("training_load", transforms.training_load(*inputs))
    keep("fitness_by_group", transforms.fitness_by_group(table("training_load"), table("user_bins")))
    keep(
        "quarantine", transforms.quarantined(table("bronze"), {each.name: table(each.name) for each in FEEDS})
    )


def test_every_view_can_be_refreshed_incrementally(spark: SparkSession, tmp_path: Path) -> None:
    groups: dict[str, object] = {}

    def keep(name: str, rows: DataFrame) -> None:
        found = check_eligibility(read_view_plan(rows))
        groups[name] = found.groups and [rows.columns[at] for at in found.groups.columns]
        if name not in ("bronze", "users", *(feed.name for feed in FEEDS)):
            assert found.is_eligible, (name, found.issues)
        rows.limit(0).write.format("delta").save(f"file:{tmp_path}/{name}")

    bundle_views(spark, lambda name: spark.read.format("delta").load(f"file:{tmp_path}/{name}"), keep)
    assert groups["heart_rate"] == ["device_id", "time"]
    assert groups["workout_bpm_summary"] == ["user_id", "workout_id", "session_id"]
    assert groups["user_bins"] is None


def techniques(company: Company) -> dict[str, str]:
    """Return the technique of each view in the newest update."""
    from lakeward.session import session

    (log,) = company.settings.home.rglob("event_log")
    events = session(company.settings).read.format("delta").load(str(log))
    planned = [
        (row["origin"]["update_id"], row["origin"]["dataset_name"].split(".")[-1], json.loads(row["details"]))
        for row in events.where("event_type = 'planning_information'").orderBy("timestamp").collect()
    ]
    return {
        name: each["maintenance_type"].removeprefix("MAINTENANCE_TYPE_")
        for update, name, details in planned
        for each in details["planning_information"]["technique_information"]
        if update == planned[-1][0] and each["is_chosen"]
    }


def run_by_day(company: Company, source: Path, days: int) -> None:
    """From the second day on no view is recomputed, and all days give what one run gives."""
    for day in range(days):
        company.run(source, days="1")
        used = techniques(company)
        assert len(used) == 14
        if day:
            assert [name for name in used if used[name] == "COMPLETE_RECOMPUTE"] == [], (day, used)
    assert company.differences(lakehouse(source)) == {}


@pytest.mark.slow
def test_generated_days_one_at_a_time_refresh_every_view_incrementally(tmp_path: Path) -> None:
    generate(tmp_path / "source", users=4, days=3, seed=11, longest=90)
    run_by_day(Company(tmp_path / "lakehouse"), tmp_path / "source", 3)


@pytest.mark.slow
def test_real_days_one_at_a_time_refresh_every_view_incrementally(tmp_path: Path, data: Path) -> None:
    source = data / "wearables"
    run_by_day(Company(tmp_path / "lakehouse"), source, len(list((source / "daily").iterdir())))
