"""Commits on a local disk: put-if-absent, whichever process comes first (INV-23)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeward.spark_internals import hadoop_conf_of, jvm_view

ROUNDS = 10_000
STEP = 0.0012  # seconds between two rounds: both processes aim at the same instant

WRITER = """
import json, sys, time
from pathlib import Path
from lakeward.session import Settings
from lakeward.session.spark_context import start_jvm
folder, me, store = sys.argv[1:4]
rounds, step = int(sys.argv[4]), float(sys.argv[5])
jvm = start_jvm(Settings.here(Path(folder), environ={})).jvm
conf = jvm.org.apache.hadoop.conf.Configuration()
conf.set("fs.file.impl", "lakeward.MappedFileSystem")
jvm.org.apache.hadoop.fs.FileSystem.closeAll()
log = (jvm.io.delta.storage.LocalLogStore if store == "local" else jvm.lakeward.LinkLogStore)(conf)
lines = jvm.java.util.ArrayList()
lines.add(me)
paths = [jvm.org.apache.hadoop.fs.Path(f"{folder}/log/{i:020d}.json") for i in range(rounds)]
(Path(folder) / ("ready-" + me)).touch()
while len(ready := list(Path(folder).glob("ready-*"))) < 2:
    time.sleep(0.01)
start = max(r.stat().st_mtime for r in ready) + 1
tried, won, i = [], [], 0
while i < rounds:
    while time.time() < start + i * step:
        pass
    tried.append(i)
    try:
        log.write(paths[i], lines.iterator(), False, conf)
        won.append(i)
    except Exception as error:
        if "FileAlreadyExistsException" not in str(error):
            raise
    # A delayed writer meets the other one again in the round that is on now.
    i = max(i + 1, int((time.time() - start) / step) + 1)
print(json.dumps([tried, won]))
"""


Racer = tuple[list[int], list[int]]


def race(folder: Path, store: str, rounds: int) -> tuple[Racer, Racer]:
    """Two processes commit the same versions; those that each tried, and believes to have won."""
    (folder / "log").mkdir(parents=True)
    command = [sys.executable, "-c", WRITER, str(folder)]
    tail = [store, str(rounds), str(STEP)]
    racers = [
        subprocess.Popen([*command, me, *tail], stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE)
        for me in ("first", "second")
    ]
    outputs = [r.communicate() for r in racers]
    assert all(r.returncode == 0 for r in racers), outputs[0][1][-3000:]
    first, second = (json.loads(out.splitlines()[-1]) for out, _ in outputs)
    return first, second


@pytest.mark.process
@pytest.mark.parametrize("rounds", [ROUNDS // 5, pytest.param(ROUNDS, marks=pytest.mark.slow)])
def test_no_commit_of_two_processes_is_lost(tmp_path: Path, rounds: int) -> None:
    (tried_first, first), (tried_second, second) = race(tmp_path, "link", rounds)
    assert not set(first) & set(second)
    assert set(first) | set(second) == set(tried_first) | set(tried_second)
    # Processes that never met would prove nothing.
    assert len(set(tried_first) & set(tried_second)) > rounds / 200
    for me, won in (("first", first), ("second", second)):
        for i in won:
            assert (tmp_path / "log" / f"{i:020d}.json").read_text() == f"{me}\n"
    assert not list((tmp_path / "log").glob(".*"))


@pytest.mark.slow
@pytest.mark.process
def test_the_race_is_real_since_deltas_own_store_loses_commits_in_it(tmp_path: Path) -> None:
    (_, first), (_, second) = race(tmp_path, "local", ROUNDS)
    assert set(first) & set(second)


@pytest.mark.parametrize("root", ["", "dbfs:/", "/Volumes/main/default/listed/"])
def test_a_log_is_listed_from_any_file_as_hadoop_lists_it(
    spark: SparkSession, tmp_path: Path, root: str
) -> None:
    spark.sql("CREATE VOLUME IF NOT EXISTS main.default.listed")
    jvm: Any = jvm_view(spark)
    conf = hadoop_conf_of(spark.sparkContext)
    folder = jvm.org.apache.hadoop.fs.Path(f"{root}{tmp_path.name}/log" if root else f"{tmp_path}/log")
    system = folder.getFileSystem(conf)
    for name in ("01.json", "02.json", "04.json", "04.json.crc", ".03.json.tmp", "_sidecars/a"):
        system.create(jvm.org.apache.hadoop.fs.Path(folder, name)).close()

    def described(files: Iterable[Any]) -> list[tuple[str, int, int, bool]]:
        return [
            (each.getPath().toString(), each.getLen(), each.getModificationTime(), each.isDirectory())
            for each in files
            if each.getPath().getName()[0] != "."
        ]

    listed = described(system.listStatus(folder))
    assert len(listed) == 5
    store = jvm.lakeward.LinkLogStore(conf)
    for first in ("00", "02.json", "03.json", "04.json.crc", "05", "a"):
        found = described(store.listFrom(jvm.org.apache.hadoop.fs.Path(folder, first), conf))
        assert found == sorted(each for each in listed if each[0].rpartition("/")[2] >= first)
    with pytest.raises(Exception, match="does not exist"):
        store.listFrom(jvm.org.apache.hadoop.fs.Path(folder, "none/00"), conf)
