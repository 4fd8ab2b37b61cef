"""Frames in the shape that Auto Loader gives, by Spark's own batch reader, and rows in the oracle's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from wearables import rules, transforms
from wearables.transforms.validity import holds

__all__ = ["COLUMNS", "batch", "read", "rows"]

# In the order of the oracle's tuples.
COLUMNS = {
    "bronze": "key value topic partition offset timestamp date week_part source_file unreadable",
    "heart_rate": "device_id time heartrate repeats",
    "workouts": "user_id workout_id time action session_id repeats",
    "registered_users": "device_id mac_address registration_timestamp user_id repeats",
    "completed_workouts": "user_id workout_id session_id start_time end_time in_progress",
    "workout_bpm": "user_id workout_id session_id device_id time heartrate",
    "workout_bpm_summary": "user_id workout_id session_id min_bpm avg_bpm max_bpm num_recordings",
    "quarantine": "feed source_file topic partition offset timestamp record failed_rules",
}


def read(spark: SparkSession, files: list[Path], schema: str) -> DataFrame:
    """The lines of `files` as `wearables.landing.landed` gives them."""
    return (
        spark.read.schema(schema)
        .option("columnNameOfCorruptRecord", "_corrupt_record")
        .json([str(file) for file in files])
        .select("*", "_metadata.file_name", F.lit(None).cast("string").alias("_rescued_data"))
    )


def batch(spark: SparkSession, source: Path, scratch: Path) -> Mapping[str, DataFrame]:
    """Every dataset for the files of `source`, by the transforms alone; bronze is kept in `scratch`."""
    lines = read(spark, sorted((source / "daily").glob("*.json*")), transforms.RECORD_SCHEMA)
    transforms.kafka_records(lines).write.format("parquet").save(str(scratch / "bronze"))
    bronze = spark.read.parquet(str(scratch / "bronze"))
    files = sorted(source.glob("registrations*.json"))
    registrations = transforms.registration_lines(read(spark, files, transforms.REGISTRATION_SCHEMA))
    heart_rate = transforms.heart_rates_once(transforms.heart_rates(bronze)).filter(holds(rules.HEART_RATE))
    workouts = transforms.workout_events_once(transforms.workout_events(bronze)).filter(holds(rules.WORKOUT))
    registered = transforms.registrations_once(registrations).filter(holds(rules.REGISTRATION))
    sessions = transforms.sessions(workouts)
    recordings = transforms.recordings(heart_rate, sessions, registered)
    return {
        "bronze": bronze,
        "heart_rate": heart_rate,
        "workouts": workouts,
        "registered_users": registered,
        "completed_workouts": sessions,
        "workout_bpm": recordings,
        "workout_bpm_summary": transforms.summary(recordings),
        "quarantine": transforms.quarantined(bronze, registrations),
        "registrations": registrations,
    }


def rows(frame: DataFrame, dataset: str) -> Counter[tuple[Any, ...]]:
    """The rows of a dataset as the oracle writes them."""
    types = dict(frame.dtypes)
    columns = [
        F.unix_micros(name).alias(name) if types[name] == "timestamp" else F.col(name)
        for name in COLUMNS[dataset].split()
    ]
    return Counter(tuple(_plain(cell) for cell in row) for row in frame.select(*columns).collect())


def _plain(cell: Any) -> Any:
    if isinstance(cell, bytearray):
        return bytes(cell)
    return tuple(cell) if isinstance(cell, list) else cell
