"""kill -9 while the state or the schema store is written; the points of a batch: test_kill."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from pyspark.sql.types import StructType

from lakeward.autoloader.schema.schema_store import SchemaStore
from lakeward.autoloader.state.state_log import StateLog
from lakeward.autoloader.streams.file_registry import FileRegistry
from tests.autoloader.trackers import Source
from tests.processes import outcome

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def killed(folder: Path, point: str) -> None:
    command = [sys.executable, "-m", "tests.autoloader.killed_state", str(folder), point]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = outcome(command, cwd=ROOT, env=environ)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("when", ["before", "after"])
def test_state_without_an_offset_is_assigned_again(tmp_path: Path, when: str) -> None:
    source = Source(tmp_path, maxFileAge="14 days")
    source.put("a")
    killed(tmp_path, f"state written {when}")
    assert sorted(source.run("b")) == ["a", "b", "new"]
    assert source.run() == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_expiry_is_done_or_not_done(tmp_path: Path, when: str) -> None:
    source = Source(tmp_path, maxFileAge="14 days")
    source.run("gone", "there")
    (source.folder / "gone").unlink()
    killed(tmp_path, f"state compacted {when}")
    knows = FileRegistry(StateLog(source.state)).contains
    assert knows(f"file:{source.folder}/there")
    assert knows(f"file:{source.folder}/gone") is (when == "before")
    source.day = 100
    assert source.run() == ["new"]
    assert source.run() == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_schema_version_is_there_whole_or_not_at_all(tmp_path: Path, when: str) -> None:
    store = SchemaStore(str(tmp_path))
    first = (StructType().add("a", "string"), StructType())
    store.add(first)
    killed(tmp_path, f"schema stored {when}")
    latest = store.latest()
    assert latest is not None
    assert latest[0].names == (["a"] if when == "before" else ["b"])
    assert store.add(first)
    assert store.numbers() == list(range(len(store.numbers())))
