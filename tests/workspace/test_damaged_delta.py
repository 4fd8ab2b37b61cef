"""Every kind of file of a Delta table, damaged in every way: Spark's queries name it, or answer as before.

A query never gives other rows without an error.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.session import Settings, condition_of
from lakeward.workspace.warehouse.statement_process import failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMITS = 13  # the checkpoint is after commit 10
ROWS = COMMITS - 1

FILES = {
    "a commit before the checkpoint": lambda table: table / "_delta_log" / f"{5:020}.json",
    "a commit after the checkpoint": lambda table: table / "_delta_log" / f"{11:020}.json",
    "the last commit": lambda table: table / "_delta_log" / f"{12:020}.json",
    "the checkpoint": lambda table: next((table / "_delta_log").glob("*.checkpoint.parquet")),
    "_last_checkpoint": lambda table: table / "_delta_log" / "_last_checkpoint",
    "the checksum": lambda table: table / "_delta_log" / f"{12:020}.crc",
    "a data file": lambda table: sorted(table.glob("*.parquet"))[0],
}
DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: os.truncate(file, file.stat().st_size // 2),
    "random": lambda file: file.write_bytes(bytes(range(256)) * 40),
    "of another type": lambda file: file.write_bytes(b"[1]"),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}
# Delta's protocol has no way to find them out: a table ends with its last commit, and a commit may be empty.
UNDETECTABLE = {("the last commit", "missing")}


@pytest.mark.slow
def test_a_damaged_file_of_a_table_is_named_or_changes_no_answer(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path
) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS main.damaged_delta")
    spark.sql("CREATE TABLE main.damaged_delta.t (id INT) TBLPROPERTIES (delta.checkpointInterval = 10)")
    for number in range(ROWS):
        spark.sql(f"INSERT INTO main.damaged_delta.t VALUES ({number})")
    schema = suite_settings.warehouse / "main" / "damaged_delta"
    problems = []
    for number, (file, damage) in enumerate((file, damage) for file in FILES for damage in DAMAGE):
        table = schema / f"t{number}"
        shutil.copytree(schema / "t", table)
        for checksum in table.rglob(".*.crc"):  # Hadoop's own, which would find everything
            checksum.unlink()
        DAMAGE[damage](FILES[file](table))
        try:
            rows = spark.sql(f"SELECT count(*), sum(id) FROM main.damaged_delta.t{number}").first()
        except Exception as error:  # noqa: BLE001  # which error is what is tested
            text = str(failure(error).error)
            if "Traceback" in text or "\tat " in text or len(text) < 20:
                problems.append((file, damage, condition_of(error), text[:300]))
            continue
        if tuple(rows or ()) != (ROWS, sum(range(ROWS))) and (file, damage) not in UNDETECTABLE:
            problems.append((file, damage, "other rows", rows))
    spark.sql("DROP SCHEMA main.damaged_delta CASCADE")
    assert not problems, "\n".join(map(str, problems))
