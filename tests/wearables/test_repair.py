"""Corrections of quarantined records: each lands once, also after a crash (DM-4.4)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from wearables.jobs import repair as job
from wearables.jobs.repair import COLUMNS, repair

SCHEMA = "main.repaired"


def test_a_correction_lands_once_as_a_kafka_record_also_after_a_crash(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    spark.sql(f"CREATE OR REPLACE TABLE {SCHEMA}.repairs ({COLUMNS})")
    assert repair(spark, SCHEMA, tmp_path) == {}
    spark.sql(
        f"INSERT INTO {SCHEMA}.repairs VALUES "
        "('bpm', 0, 7, 1000, '200000', '{\"device_id\": 200000}', NULL), "
        "('bpm', 0, 8, 1000, '200000', 'Zoë', NULL)"
    )

    def crash(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(job, "replacing", crash)
    with pytest.raises(OSError, match="disk full"):
        repair(spark, SCHEMA, tmp_path)
    monkeypatch.undo()
    assert landed(tmp_path) == []
    spark.sql(f"INSERT INTO {SCHEMA}.repairs VALUES ('bpm', 0, 9, 1000, NULL, 'x', NULL)")
    assert sorted(repair(spark, SCHEMA, tmp_path).values()) == [1, 2]
    everything = {("MjAwMDAw", '{"device_id": 200000}', 7), ("MjAwMDAw", "Zoë", 8), (None, "x", 9)}
    assert set(landed(tmp_path)) == everything
    assert repair(spark, SCHEMA, tmp_path) == {}
    assert set(landed(tmp_path)) == everything
    assert spark.table(f"{SCHEMA}.repairs").filter("record IS NOT NULL OR key IS NOT NULL").isEmpty()
    assert [path.name for path in (tmp_path / "daily").iterdir() if path.name.startswith(".")] == []


def landed(landing: Path) -> list[tuple[str | None, str, int]]:
    found = [
        json.loads(line)
        for file in (landing / "daily").glob("*.json")
        for line in file.read_text().splitlines()
    ]
    rows = [(each["key"], base64.b64decode(each["value"]).decode(), each["offset"]) for each in found]
    assert len(rows) == len(set(rows))
    return rows
