"""`cleanSource`: which files are deleted or moved, when, and which must stay (AL-6.6)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeward.autoloader.discovery.file_listing import FileLister
from lakeward.autoloader.discovery.storage import open_storage
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.state.frames import FileEntry
from lakeward.autoloader.state.state_log import StateLog
from lakeward.autoloader.streams.checkpoint_state import file_states
from lakeward.autoloader.streams.source_cleaning import cleaning_policy, is_cleanable
from lakeward.errors import CloudFilesError
from tests.autoloader.trackers import NAMES, Source

OFF_AFTER_TEN = {"cleanSource": "DELETE", "cleanSource.retentionDuration": "10 days"}


def moving(folder: Path) -> dict[str, str]:
    return {
        "cleanSource": "MOVE",
        "cleanSource.retentionDuration": "0 seconds",
        "cleanSource.moveDestination": str(folder / "archive"),
    }


@pytest.mark.rule("6.6.1", "6.6.2", "6.6.3")
def test_a_file_goes_two_runs_after_it_was_read_and_only_while_files_arrive(tmp_path: Path) -> None:
    source = Source(tmp_path, **moving(tmp_path))
    source.run("a")
    source.run("b")
    assert source.there() == ["a", "b"]
    source.run()
    assert source.there() == ["a", "b"]
    source.run("c")
    assert source.there() == ["b", "c"]
    assert (tmp_path / "archive" / "a").read_text() == "{}"
    assert source.run("d", "a") == ["d"], "a file that was cleaned stays known"
    assert source.there() == ["a", "c", "d"]


@pytest.mark.rule("6.6.1")
def test_a_short_retention_ends_within_a_run(tmp_path: Path) -> None:
    """The scans for due files are as frequent as the retention is short."""
    source = Source(tmp_path, **moving(tmp_path), maxFilesPerTrigger="1")
    source.run("a", "b", "c", "d")
    assert source.there() == ["c", "d"]
    assert sorted(path.name for path in (tmp_path / "archive").iterdir()) == ["a", "b"]


@pytest.mark.rule("6.6.1")
def test_the_retention_counts_from_the_commit(tmp_path: Path) -> None:
    source = Source(tmp_path, **OFF_AFTER_TEN)
    source.run("a")
    source.day = 30
    source.run("b")
    source.day = 39
    source.run("c")
    assert "a" in source.there()
    source.day = 40
    source.run("d")
    assert source.there() == ["b", "c", "d"]


@pytest.mark.rule("6.6.4")
def test_the_mode_of_now_decides_and_nothing_goes_when_it_is_off(tmp_path: Path) -> None:
    source = Source(tmp_path)
    for day in range(0, 60, 20):
        source.day = day
        source.run(f"f{day}")
    assert len(source.there()) == 3
    source.options = OFF_AFTER_TEN
    source.run("g")
    assert source.there() == ["f20", "f40", "g"]


def test_files_that_this_stream_has_not_read_stay(tmp_path: Path) -> None:
    source = Source(tmp_path, includeExistingFiles="false", **moving(tmp_path))
    source.put("old")
    source.put("_hidden/x")
    source.run()
    for name in "abc":
        source.run(name)
    assert source.there() == ["_hidden/x", "b", "c", "old"]


def test_files_that_were_left_out_as_corrupt_stay(tmp_path: Path) -> None:
    source = Source(tmp_path, **moving(tmp_path))
    source.run("broken", "whole")
    StateLog(source.state).skips.mark(f"file:{source.folder}/broken", "SKIPPED_CORRUPTED")
    source.run("b")
    source.run("c")
    assert source.there() == ["b", "broken", "c"]


def test_a_file_that_was_changed_since_it_was_read_stays(tmp_path: Path) -> None:
    source = Source(tmp_path, **moving(tmp_path))
    source.run("a")
    source.run("b")
    source.put("a", text="unread content")
    source.run("c")
    source.run("d")
    assert "a" in source.there()


def test_a_place_that_is_taken_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "a").write_text("before")
    source = Source(tmp_path, **moving(tmp_path))
    for name in "abc":
        source.run(name)
    assert source.there() == ["a", "b", "c"]
    assert (tmp_path / "archive" / "a").read_text() == "before"


def test_folders_below_the_source_are_kept_in_the_move(tmp_path: Path) -> None:
    source = Source(tmp_path, **moving(tmp_path))
    for name in ("x/y/a", "b", "c"):
        source.run(name)
    assert (tmp_path / "archive" / "x" / "y" / "a").exists()


def test_files_outside_the_source_or_behind_a_link_are_never_cleaned(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside, tmp_path / "in2"):
        folder.mkdir()
        (folder / "f").write_text("{}")
    (inside / "link").symlink_to(outside / "f")
    (inside / "folder").symlink_to(outside)
    lister = FileLister(str(inside), open_storage(str(inside)), NAMES)

    def due(path: Path | str) -> bool:
        status = os.stat(path)
        return is_cleanable(FileEntry("k", status.st_size, status.st_mtime_ns // 1000), str(path), lister)

    assert due(inside / "f")
    for path in (
        outside / "f",
        tmp_path / "in2" / "f",
        inside / "link",
        inside / "folder" / "f",
        f"{inside}/../out/f",
    ):
        assert not due(path), path
    narrow = FileLister(f"{inside}/a*", open_storage(str(inside)), NAMES)
    status = (inside / "f").stat()
    assert not is_cleanable(FileEntry("k", 2, status.st_mtime_ns // 1000), str(inside / "f"), narrow)
    whole_disk = FileLister("/", open_storage("/"), NAMES)
    assert not whole_disk.covers(str(inside / "f"))


def test_a_continuous_stream_cleans_while_it_runs(tmp_path: Path) -> None:
    source = Source(tmp_path, **moving(tmp_path))
    tracker = source.tracker()
    at = tracker.initial_offset()
    for number in range(5):
        source.put(str(number))
        at = tracker.latest(at, limited=True)
        source.day += 0.01
    assert source.there() == ["3", "4"]


_OTHER_STORE = "CF_UNSUPPORTED_CLEAN_SOURCE_MOVE.DIFFERENT_STORAGE_AS_SOURCE"


@pytest.mark.rule("6.6.5")
@pytest.mark.parametrize(
    ("source", "destination", "expected"),
    [
        ("s3://a/in", "s3://a/archive", None),
        ("s3://a/in", "s3://b/archive", _OTHER_STORE),
        ("s3://a/in", "gs://a/archive", _OTHER_STORE),
        ("s3://a/in", "/archive", _OTHER_STORE),
    ],
)
def test_files_are_moved_within_their_store(source: str, destination: str, expected: str | None) -> None:
    given = {"format": "json", "cleanSource": "MOVE", "cleanSource.moveDestination": destination}
    options = Options.of({f"cloudFiles.{key}": value for key, value in given.items()})
    try:
        cleaning_policy(options, source, NAMES)
        found = None
    except CloudFilesError as error:
        found = error.condition
    assert found == expected


@pytest.mark.rule("6.6.5")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"cleanSource": "DELETE", "allowOverwrites": "true"}, "CF_CLEAN_SOURCE_ALLOW_OVERWRITES_BOTH_ON"),
        ({"cleanSource": "DELETE", "cleanSource.retentionDuration": "7 days"}, "CF_INVALID_OPTION_VALUE"),
        ({"cleanSource": "DELETE", "cleanSource.retentionDuration": "8 days"}, None),
        ({"cleanSource": "DELETE"}, None),
        ({"cleanSource": "MOVE"}, "CF_INVALID_OPTION_VALUE"),
        ({"cleanSource": "move", "cleanSource.moveDestination": "/d/in/archive"}, "CF_INVALID_OPTION_VALUE"),
        ({"cleanSource": "MOVE", "cleanSource.moveDestination": "/d/in"}, "CF_INVALID_OPTION_VALUE"),
        ({"cleanSource": "MOVE", "cleanSource.moveDestination": "s3://b/x"}, _OTHER_STORE),
        ({"cleanSource": "MOVE", "cleanSource.moveDestination": "/d/in2"}, None),
    ],
)
def test_what_is_refused_at_the_start(options: dict[str, str], expected: str | None) -> None:
    given = {f"cloudFiles.{key}": value for key, value in options.items()}
    try:
        cleaning_policy(Options.of({"cloudFiles.format": "json", **given}), "/d/in", NAMES)
        found = None
    except CloudFilesError as error:
        found = error.condition
    assert found == expected


@pytest.mark.rule("6.7")
def test_what_was_cleaned_is_in_the_state(tmp_path: Path) -> None:
    source = Source(tmp_path, **moving(tmp_path))
    source.state = tmp_path / "checkpoint" / "sources" / "0"
    for name in "abc":
        source.run(name)
    rows = {Path(row.path).name: row for row in file_states(tmp_path / "checkpoint")}
    assert (rows["a"].archive_mode, rows["a"].move_location) == ("MOVE", f"file:{tmp_path}/archive/a")
    assert rows["a"].archive_time is not None
    assert rows["b"].archive_mode is None
