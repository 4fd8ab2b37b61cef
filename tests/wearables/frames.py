"""Frames in the shape that Auto Loader gives, by Spark's own batch reader, and rows in the oracle's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from wearables import transforms
from wearables.feeds import FEEDS, GYM_LOGS, REGISTRATIONS
from wearables.topics import EVENTS, USER_INFO
from wearables.transforms.validity import holds

__all__ = ["COLUMNS", "batch", "read", "rows"]

_USER = "user_id dob sex gender first_name last_name street_address city state zip updated"

# In the order of the oracle's tuples.
COLUMNS = {
    "bronze": "key value topic partition offset timestamp date week_part source_file unreadable",
    "heart_rate": "device_id time heartrate repeats",
    "workouts": "user_id workout_id time action session_id repeats",
    "registered_users": "device_id mac_address registration_timestamp user_id repeats",
    "gym_visits": "mac gym first_timestamp last_timestamp repeats",
    "completed_workouts": "user_id workout_id session_id start_time end_time in_progress",
    "workout_bpm": "user_id workout_id session_id device_id time heartrate",
    "workout_bpm_summary": "user_id workout_id session_id min_bpm avg_bpm max_bpm num_recordings",
    "quarantine": "feed source_file topic partition offset timestamp record failed_rules",
    "users": _USER,
    "users_history": f"{_USER} __START_AT.updated __END_AT.updated",
    "user_bins": "user_id age_band gender state",
    "training_load": "user_id week_part seconds points max_bpm",
    "fitness_by_group": "week_part age_band people seconds points",
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
    """Every dataset for the files of `source`, by the transforms alone.

    What others are computed from is kept in `scratch`.
    """

    def kept(name: str, frame: DataFrame) -> DataFrame:
        frame.write.format("parquet").save(str(scratch / name))
        return spark.read.parquet(str(scratch / name))

    lines = read(spark, sorted((source / "daily").glob("*.json*")), transforms.RECORD_SCHEMA)
    bronze = kept("bronze", transforms.kafka_records(lines))
    delivered = {
        feed.name: transforms.delivered_lines(read(spark, files, feed.schema), feed)
        for feed, files in (
            (REGISTRATIONS, sorted(source.glob("registrations*.json"))),
            (GYM_LOGS, sorted((source / "gym").glob("*.json"))),
        )
    }
    silver = {
        **{
            topic.target: transforms.events_once(bronze, topic).filter(holds(topic.rules)) for topic in EVENTS
        },
        **{
            feed.target: transforms.lines_once(delivered[feed.name], feed).filter(holds(feed.rules))
            for feed in FEEDS
        },
    }
    silver = {name: kept(name, frame) for name, frame in silver.items()}
    sessions = transforms.sessions(silver["workouts"])
    joined = transforms.recordings(silver["heart_rate"], sessions, silver["registered_users"])
    recordings = kept("workout_bpm", joined)
    changes = transforms.user_changes(bronze).filter(holds(USER_INFO.rules))
    history = kept("users_history", versions(changes))
    users = history.filter("__END_AT IS NULL").drop("__START_AT", "__END_AT")
    known = users.select("user_id").unionByName(silver["registered_users"].select("user_id"))
    keyed = transforms.pseudonyms(known, key="a key of the tests", key_name="pseudonym-1")
    keys = kept("user_keys", keyed)
    bins = transforms.age_bands(users, keys, bronze)
    load = kept("training_load", transforms.training_load(recordings, keys, transforms.dates(spark)))
    return {
        "bronze": bronze,
        **silver,
        **delivered,
        "completed_workouts": sessions,
        "workout_bpm": recordings,
        "workout_bpm_summary": transforms.summary(recordings),
        "quarantine": transforms.quarantined(bronze, delivered),
        "users": users,
        "users_history": history,
        "user_keys": keys,
        "user_bins": bins,
        "date_lookup": transforms.dates(spark),
        "training_load": load,
        "fitness_by_group": transforms.fitness_by_group(load, bins),
    }


def versions(changes: DataFrame) -> DataFrame:
    """Fold changes as AUTO CDC of type 2 does, by a window over all of them."""
    following = F.lead("sequence").over(Window.partitionBy("user_id").orderBy("sequence"))
    return (
        changes.dropDuplicates(["user_id", "sequence"])
        .withColumn("__END_AT", following)
        .filter("update_type <> 'delete'")
        .withColumnRenamed("sequence", "__START_AT")
        .drop("update_type", "received")
    )


def rows(frame: DataFrame, dataset: str, keys: DataFrame | None = None) -> Counter[tuple[Any, ...]]:
    """The rows of a dataset as the oracle writes them; `keys` translates pseudonyms to users."""
    if "pseudonym" in frame.columns and keys is not None:
        frame = frame.join(keys.select("user_id", "pseudonym"), "pseudonym")
    fields = COLUMNS[dataset].split()
    types = dict(frame.select(*(F.col(field).alias(field) for field in fields)).dtypes)
    columns = [F.unix_micros(name) if types[name] == "timestamp" else F.col(name) for name in fields]
    columns = [column.alias(f"_{number}") for number, column in enumerate(columns)]
    return Counter(tuple(_plain(cell) for cell in row) for row in frame.select(*columns).collect())


def _plain(cell: Any) -> Any:
    if isinstance(cell, bytearray):
        return bytes(cell)
    return tuple(cell) if isinstance(cell, list) else cell
