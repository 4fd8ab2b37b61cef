"""Processes that are killed in the middle: the next update completes or repeats their work."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.trees import write_files

pytestmark = [pytest.mark.process, pytest.mark.slow]

STORY = Path(__file__).with_name("story.py")
FILES = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F
@dp.table
def bronze():
    reader = spark.readStream.schema("id bigint, n bigint").option("maxFilesPerTrigger", 2)
    return reader.json("{landing}")
@dp.temporary_view
def tidy(): return spark.readStream.table("bronze").withColumn("k", F.col("id") % 3)
@dp.table
@dp.expect_or_drop("not seven", "id % 7 <> 0")
def silver(): return dp.read_stream("tidy")
@dp.table
def counts(): return dp.read_stream("silver").groupBy("k").count()
@dp.materialized_view
def gold(): return dp.read("silver").groupBy("k").agg(F.sum("n").alias("total"))
@dp.temporary_view
def changes(): return spark.readStream.table("bronze").select((F.col("id") % 4).alias("k"), "id", "n")
for kind, name in ((1, "latest"), (2, "history")):
    dp.create_streaming_table(name)
    dp.create_auto_cdc_flow(
        target=name, source="changes", keys=["k"], sequence_by="id", stored_as_scd_type=kind
    )
"""
READER = """
import json, sys
from pathlib import Path
from lakeward.session import Settings, session
folder, *names = sys.argv[1:]
spark = session(Settings.here(Path(folder), environ={}))
paths = {name: f"{folder}/.lakeward/local/warehouse/main/default/{name}" for name in names}
read = spark.read.format("delta").load
print(json.dumps({name: [list(row) for row in read(path).collect()] for name, path in paths.items()}))
"""
TABLES = ("bronze", "silver", "counts", "gold", "latest", "history")


def land(folder: Path, files: range) -> None:
    for i in files:
        rows = "\n".join(f'{{"id": {10 * i + j}, "n": {j}}}' for j in range(10))
        (folder / f"{i:04}.json").write_text(rows)


def started(folder: Path, *flags: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(STORY), str(folder), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd=folder,
    )  # fmt: skip


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if text in line:
            return seen
    raise AssertionError(f"the process never said {text!r}:\n{seen}")


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def tables(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Read by Delta's own reader in a process of its own, which knows nothing of pipelines."""
    done = subprocess.run(
        [sys.executable, "-c", READER, str(folder), *TABLES],
        capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: sorted(map(tuple, rows)) for name, rows in found.items()}


def expected(files: range) -> dict[str, list[tuple[object, ...]]]:
    rows = [(10 * i + j, j) for i in files for j in range(10)]
    silver = [(i, n, i % 3) for i, n in rows if i % 7]
    of_keys = {key: [row for row in rows if row[0] % 4 == key] for key in range(4)}
    history = [
        (key, i, n, i, until)
        for key, own in of_keys.items()
        for (i, n), (until, _) in zip(own, [*own[1:], (None, None)], strict=True)
    ]
    return {
        "bronze": sorted(rows),
        "silver": sorted(silver),
        "counts": [(k, sum(row[2] == k for row in silver)) for k in range(3)],
        "gold": [(k, sum(row[1] for row in silver if row[2] == k)) for k in range(3)],
        "latest": [row[:3] for row in history if row[4] is None],
        "history": sorted(history),
    }


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    """The folder that the pipeline reads; its files are next to it."""
    folder = tmp_path / "landing"
    folder.mkdir()
    write_files(tmp_path / "files", {"a.py": FILES.format(landing=folder)})
    return folder


def completes(folder: Path) -> None:
    """One more update goes through."""
    process = started(folder)
    wait_for(process, "ENDED COMPLETED")
    assert process.wait() == 0 and process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("seed", range(8))
def test_kill_minus_nine_at_any_moment(tmp_path: Path, landing: Path, seed: int) -> None:
    """Updates and full refreshes are killed at random moments; a last update gives the tables of no kill."""
    chance = random.Random(seed)
    landed = 0
    for round_ in range(4):
        land(landing, range(landed, landed + 5))
        landed += 5
        process = started(tmp_path, *(["--full"] if round_ == 2 else []))
        wait_for(process, "bronze RUNNING")
        time.sleep(chance.uniform(0, 20))
        kill(process)
    completes(tmp_path)
    assert tables(tmp_path) == expected(range(landed))


def test_ctrl_c_cancels_and_the_next_update_continues(tmp_path: Path, landing: Path) -> None:
    land(landing, range(40))
    process = started(tmp_path)
    wait_for(process, "bronze RUNNING")
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    said = wait_for(process, "ENDED")
    assert "ENDED CANCELED" in said and process.wait() == 130 and process.stdout is not None
    process.stdout.close()
    completes(tmp_path)
    assert tables(tmp_path) == expected(range(40))


def test_a_second_process_is_refused_while_the_first_runs(tmp_path: Path, landing: Path) -> None:
    land(landing, range(40))
    first = started(tmp_path)
    wait_for(first, "bronze RUNNING")
    second = started(tmp_path)
    said = wait_for(second, "ENDED")
    assert "UPDATE_ALREADY_RUNNING" in said and str(first.pid) in said
    for process in (second, first):
        kill(process)
