"""Every small file of a pipeline's state, damaged in every way: an error that names it, or no effect.

Tables, checkpoints' offsets and the event log are files of Delta and Spark, which check them themselves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeward.errors import PipelineError
from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable
from lakeward.pipelines.autocdc.snapshots import SnapshotStore
from lakeward.pipelines.events.event_log import tail_events
from lakeward.pipelines.storage.checkpoints import Checkpoints

TABLE = ("main", "default", "t")
VERSION = {"version": ["int", "1"], "schema": '{"type": "struct", "fields": []}'}


def _replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "truncated": _truncate,
    "random": lambda file: file.write_bytes(bytes(range(256)) * 4),
    "a list": lambda file: file.write_text("[1]"),
    "values of another type": lambda file: file.write_text('{"version": 1, "schema": 2, "t": "x"}'),
    "a folder": _replace_by_folder,
    "of mode 000": lambda file: file.chmod(0),
    "of another owner": lambda file: os.chown(file, 12345, 12345),
}
ANY_BYTES = ("empty", "truncated", "random", "a list", "values of another type", "a folder")


def _reset(storage: Path) -> tuple[Path, Callable[[], object]]:
    checkpoints = Checkpoints(storage)
    checkpoints.begin_reset(TABLE, ["flow"])
    (file,) = (storage / "resets").iterdir()

    def look() -> object:
        if not checkpoints.is_resetting(TABLE):
            return "no reset"
        number = checkpoints.next(TABLE, "flow").name
        checkpoints.finish_reset(TABLE)
        return number

    return file, look


def _snapshot(storage: Path) -> tuple[Path, Callable[[], object]]:
    pytest.importorskip("pyspark")
    folder = storage / "snapshots" / "0"
    folder.mkdir(parents=True)
    (folder / "snapshot.json").write_text(json.dumps(VERSION))
    return folder / "snapshot.json", lambda: SnapshotStore(folder.parent).last().version  # type: ignore[union-attr]  # there is one


def _sequences(storage: Path) -> tuple[Path, Callable[[], object]]:
    table = AuxiliaryTable(storage / "changes")
    table.set_target_sequence_column("sequence_number")
    return storage / "changes.carried", lambda: table.target_sequence_column


def _events(storage: Path) -> tuple[Path, Callable[[], object]]:
    lines: list[Any] = [{"event_type": "flow_progress", "details": {}}]
    lines += [{"event_type": "update_progress", "details": {"update_progress": {"state": "COMPLETED"}}}]
    file = storage / "events.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    class Waiting(Exception):
        pass

    def wait() -> None:
        raise Waiting

    def events() -> Iterator[str]:
        yield from (event["event_type"] for event in tail_events(storage, wait))

    def look() -> object:
        try:
            return list(events())
        except Waiting:
            return "waits"

    return file, look


# File -> how it is made and used, and what the use gives for the whole file and for each damage.
FILES: dict[str, tuple[Callable[[Path], tuple[Path, Callable[[], object]]], dict[str, object]]] = {
    "reset": (
        _reset,
        {"whole": "1", "missing": "no reset", **dict.fromkeys(ANY_BYTES, PipelineError)},
    ),
    "snapshot": (
        _snapshot,
        {"whole": 1, "missing": PipelineError, **dict.fromkeys(ANY_BYTES, PipelineError)},
    ),
    "sequences": (
        _sequences,
        {
            "whole": "sequence_number",
            "missing": None,
            **dict.fromkeys(("empty", "random", "a folder"), PipelineError),
            # Still a name: a column that the target does not have fails the update.
            "truncated": "sequenc",
            "a list": "[1]",
            "values of another type": '{"version": 1, "schema": 2, "t": "x"}',
        },
    ),
    "events": (
        _events,
        {
            "whole": ["flow_progress", "update_progress"],
            **dict.fromkeys(("missing", "empty", "random", "a list", "values of another type"), "waits"),
            # Cut within the first line, or after it.
            "truncated": "waits",
            "a folder": OSError,
        },
    ),
}


@pytest.mark.parametrize("damage", ["whole", *DAMAGE])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_or_has_no_effect(tmp_path: Path, name: str, damage: str) -> None:
    if damage == "of mode 000" and not os.geteuid():
        pytest.skip("root reads files of any mode")
    if damage == "of another owner" and os.geteuid():
        pytest.skip("only root gives files to other users")
    make, results = FILES[name]
    expected = results.get(damage, results["whole"])
    if damage == "of mode 000":
        expected = OSError if name == "events" else PipelineError
    file, look = make(tmp_path)
    if damage != "whole":
        DAMAGE[damage](file)
    if not (isinstance(expected, type) and issubclass(expected, Exception)):
        found = look()
        if name == "events" and damage == "truncated":
            assert found in ("waits", expected)
        else:
            assert found == expected
        return
    with pytest.raises(expected) as raised:
        look()
    if expected is PipelineError:
        assert raised.value.condition == "PIPELINE_STATE_DAMAGED"
        assert str(file) in raised.value.message and "--full-refresh" in str(raised.value.next_step)


@pytest.mark.parametrize("folder", ["/etc", "../../outside", "a/../../b"])
def test_a_reset_makes_no_folder_outside_of_the_checkpoints(tmp_path: Path, folder: str) -> None:
    file, look = _reset(tmp_path / "storage")
    file.write_text(json.dumps({folder: 1}))
    with pytest.raises(PipelineError, match="outside of the checkpoints"):
        look()
    assert [entry.name for entry in tmp_path.iterdir()] == ["storage"]
