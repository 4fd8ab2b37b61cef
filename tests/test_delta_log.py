"""The metadata of a Delta table: the newest one, from commits or a checkpoint, and damaged files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakeward.delta_log import read_metadata
from lakeward.errors import LakewardError
from tests.doctor.delta_tables import DeltaTable

ID = "4c3b0f6e-0000-4000-8000-000000000000"


def _metadata(**configuration: str) -> dict[str, Any]:
    schema = json.dumps({"type": "struct", "fields": []})
    return {"metaData": {"id": ID, "schemaString": schema, "configuration": configuration}}


@pytest.fixture
def table(tmp_path: Path) -> DeltaTable:
    made = DeltaTable(tmp_path / "t", configuration={"a": "old"})
    made.commit(_metadata(a="new"))
    made.commit(made.add())
    return made


def _log(table: DeltaTable, version: int) -> Path:
    return table.folder / "_delta_log" / f"{version:020}.json"


def _properties(table: DeltaTable) -> dict[str, str] | None:
    found = read_metadata(table.folder)
    return found and found.properties


def test_the_newest_commit_with_metadata_counts(table: DeltaTable) -> None:
    os.utime(_log(table, 0), (10, 10))
    os.utime(_log(table, 2), (30, 30))
    found = read_metadata(table.folder)
    assert found is not None
    assert (found.properties, found.action["id"]) == ({"a": "new"}, ID)
    assert (found.created, found.updated) == (10_000, 30_000)


@pytest.mark.parametrize("parts", [1, 2])
def test_a_checkpoint_has_it_when_the_commits_are_gone(table: DeltaTable, parts: int) -> None:
    table.checkpoint([_metadata(a="kept"), table.add()], parts=parts)
    for version in range(3):
        _log(table, version).unlink()
    table.commit(table.add())
    assert _properties(table) == {"a": "kept"}


def test_commits_replace_a_damaged_checkpoint(table: DeltaTable) -> None:
    (table.folder / "_delta_log" / f"{2:020}.checkpoint.parquet").write_bytes(b"PAR1")
    assert _properties(table) == {"a": "new"}


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: os.truncate(file, file.stat().st_size - 3),
    "a list": lambda file: file.write_bytes(b"[1]"),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_no_older_commit_replaces_a_damaged_one(table: DeltaTable, damage: str) -> None:
    DAMAGE[damage](_log(table, 2))
    with pytest.raises(LakewardError) as caught:
        read_metadata(table.folder)
    assert caught.value.condition == "DELTA_LOG_UNREADABLE" and str(_log(table, 2)) in caught.value.message


@pytest.mark.parametrize("folder", ["none", "empty"])
def test_what_has_no_log_has_no_metadata(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty" / "_delta_log").mkdir(parents=True)
    assert read_metadata(tmp_path / folder) is None
