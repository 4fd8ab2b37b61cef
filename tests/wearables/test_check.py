"""The job's last task sees when tables contradict each other, and says which."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.wearables.frames import batch
from wearables.jobs.check import CheckError, failures, main


@pytest.fixture
def schema(spark: SparkSession, deliveries: Path, tmp_path: Path) -> str:
    """All tables, consistent, in main.checked."""
    spark.sql("CREATE SCHEMA IF NOT EXISTS main.checked")
    for name, frame in batch(spark, deliveries, tmp_path).items():
        frame.write.mode("overwrite").option("overwriteSchema", "true").saveAsTable(f"main.checked.{name}")
    return "main.checked"


@pytest.mark.slow
def test_consistent_tables_pass_and_each_contradiction_is_named(
    spark: SparkSession, schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--catalog", "main", "--schema", "checked"])
    assert "all checks hold in main.checked" in capsys.readouterr().out

    # Older than a day before the newest record: the check of a day leaves it out.
    oldest = "SELECT * FROM main.checked.heart_rate ORDER BY time LIMIT 1"
    spark.sql(f"INSERT INTO main.checked.heart_rate {oldest}")
    repeated = "heart_rate has 1 keys (device_id, time) with more than one row"
    counted, *others = failures(spark, schema, days=1)
    assert (others, counted[:10]) == ([], "bronze has")
    assert list(failures(spark, schema)) == [counted, repeated]
    newest = oldest.replace("time LIMIT", "time DESC LIMIT")
    spark.sql(f"INSERT INTO main.checked.heart_rate {newest}")
    assert list(failures(spark, schema, days=1))[1:] == [repeated]
    spark.sql("RESTORE TABLE main.checked.heart_rate TO VERSION AS OF 0")
    spark.sql("UPDATE main.checked.workout_bpm_summary SET max_bpm = max_bpm + 1")
    (gold,) = failures(spark, schema, days=1)
    assert gold.startswith("workout_bpm_summary differs in ")
    spark.sql("RESTORE TABLE main.checked.workout_bpm_summary TO VERSION AS OF 0")

    spark.sql("DELETE FROM main.checked.quarantine WHERE feed = 'registrations'")
    spark.sql("DELETE FROM main.checked.heart_rate WHERE device_id = 3800000000")
    spark.sql(
        "INSERT INTO main.checked.completed_workouts SELECT * FROM main.checked.completed_workouts LIMIT 1"
    )
    spark.sql("UPDATE main.checked.workout_bpm_summary SET max_bpm = max_bpm + 1 WHERE user_id = 10000")
    spark.sql("DELETE FROM main.checked.user_keys WHERE user_id = 10001")
    spark.sql("UPDATE main.checked.users SET city = 'Rome' WHERE user_id = 10002")
    spark.sql("UPDATE main.checked.fitness_by_group SET people = 4")
    bronze, registrations, keys, *references, users, groups, gold = failures(spark, schema)
    assert references == [
        "registered_users has 1 rows whose user_id are not in user_keys",
        "users has 1 rows whose user_id are not in user_keys",
        "training_load has 1 rows whose pseudonym are not in user_keys",
    ]
    assert users == "users differs in 2 rows from the open rows of users_history"
    assert groups.endswith("groups of fewer than 5 people")
    assert bronze.startswith("bronze has ")
    assert bronze.endswith("are unaccounted for")
    assert registrations.startswith("registrations has ")
    assert keys == "completed_workouts has 1 keys (user_id, session_id) with more than one row"
    assert gold.startswith("workout_bpm_summary differs in ")
    with pytest.raises(
        CheckError, match=r"9 checks failed in `main`\.`checked`: bronze has .*; registrations has"
    ):
        main(["--catalog", "main", "--schema", "checked"])
