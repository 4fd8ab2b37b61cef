"""Assignment of files to batches: limits, backlog, names, expiry, versions (AL-6)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.file_contents import FileContents
from lakeward.autoloader.state.frames import MAGIC, encode_frame
from lakeward.autoloader.state.state_log import StateLog
from lakeward.autoloader.streams.checkpoint_state import file_states
from lakeward.autoloader.streams.file_registry import FileRegistry
from lakeward.errors import CloudFilesError
from tests.autoloader.trackers import Source, names_of


@pytest.mark.rule("6.5")
def test_the_backlog_is_what_was_found_and_not_taken(tmp_path: Path) -> None:
    source = Source(tmp_path, maxFilesPerTrigger="2")
    source.put(*"abcde", text="123")
    tracker = source.tracker()
    at = tracker.latest(tracker.initial_offset(), limited=True)
    assert (len(tracker.backlog), tracker.backlog.bytes) == (3, 9)
    tracker.latest(at, limited=True)
    assert (len(tracker.backlog), tracker.backlog.bytes) == (1, 3)


@pytest.mark.rule("6.4.1")
def test_a_full_batch_is_taken_from_the_backlog_without_another_listing(tmp_path: Path) -> None:
    source = Source(tmp_path, maxFilesPerTrigger="2")
    source.put(*"abcde")
    tracker = source.tracker()
    start = tracker.initial_offset()
    middle = tracker.latest(start, limited=True)
    source.put("0")
    os.utime(source.folder / "0", (1, 1))
    end = tracker.latest(middle, limited=True)
    last = tracker.latest(end, limited=True)
    assert names_of(tracker.files(middle, end)) == ["c", "d"]
    assert names_of(tracker.files(end, last)) == ["0", "e"]


@pytest.mark.rule("6.4.3")
def test_once_takes_everything_whatever_the_limits(tmp_path: Path) -> None:
    source = Source(tmp_path, maxFilesPerTrigger="2", maxBytesPerTrigger="1b")
    source.put(*"abcde")
    tracker = source.tracker()
    assert tracker.latest(tracker.initial_offset(), limited=False)["seqNum"] == 5


@pytest.mark.rule("6.1.7")
def test_the_input_path_may_change_with_the_same_checkpoint(tmp_path: Path) -> None:
    source = Source(tmp_path)
    source.put("x/a", "y/b")
    whole = source.folder
    source.folder = whole / "x"
    assert source.run() == ["a"]
    source.folder = whole
    assert source.run("c") == ["b", "c"]
    assert source.at is not None
    assert source.at["lastInputPath"] == f"file:{whole}"


@pytest.mark.rule("6.1.6")
def test_names_of_any_kind_are_found_kept_and_taken_once(tmp_path: Path) -> None:
    names = ["a b", "100%", "a%20b", "#1", "😀", "ü", "x" * 255, "tab\there", "new\nline", "back\\slash\\n"]
    source = Source(tmp_path)
    assert sorted(source.run(*names)) == sorted(names)
    assert source.run("later") == ["later"]


def test_a_name_that_is_no_unicode_is_kept_too(tmp_path: Path) -> None:
    source = Source(tmp_path)
    name = os.fsdecode(b"caf\xe9")
    assert source.run(name) == [name]
    assert source.run() == []


def test_ten_thousand_folders_are_listed(tmp_path: Path) -> None:
    source = Source(tmp_path, maxFilesPerTrigger="100000")
    for number in range(10_000):
        (source.folder / f"{number % 100:02}" / f"{number:05}").mkdir(parents=True)
    (source.folder / "42" / "00042" / "f").write_text("{}")
    assert source.run() == ["f"]


@pytest.mark.parametrize("jump", [-400.0, 400.0])
def test_a_clock_that_jumps_changes_nothing_of_what_is_new(tmp_path: Path, jump: float) -> None:
    source = Source(tmp_path, maxFileAge="14 days")
    assert source.run("a") == ["a"]
    source.day = jump
    assert source.run("b") == ["b"]
    os.utime(source.folder / "a", (time.time() + jump * 86_400,) * 2)
    source.day = 0
    assert source.run("c") == ["c"]


def test_old_files_are_forgotten_once_they_are_gone(tmp_path: Path) -> None:
    source = Source(tmp_path, maxFileAge="14 days")
    source.run("gone", "there")
    source.day = 1
    source.run("young")
    (source.folder / "gone").unlink()
    (source.folder / "young").unlink()
    source.day = 14.5
    assert source.run("next") == ["next"]
    known = FileRegistry(StateLog(source.state))
    assert [known.contains(f"file:{source.folder}/{name}") for name in ("gone", "there", "young")] == [
        False,
        True,
        True,
    ]
    assert source.run("gone") == ["gone"]
    source.day = 40
    assert source.run("last") == ["last"]
    (source.folder / "there").unlink()
    source.day = 80
    assert source.run("z") == ["z"]
    assert len(FileRegistry(StateLog(source.state))) == 4


def test_nothing_is_forgotten_while_the_source_is_not_mounted(tmp_path: Path) -> None:
    source = Source(tmp_path, maxFileAge="14 days")
    source.run("a")
    (source.folder / "a").rename(tmp_path / "a")
    source.day = 100
    source.run()
    (tmp_path / "a").rename(source.folder / "a")
    assert source.run() == []


def test_the_draft_of_an_expiry_that_was_killed_does_no_harm(tmp_path: Path) -> None:
    source = Source(tmp_path, maxFileAge="14 days")
    source.run("a", "b")
    source.run("c")
    (source.folder / "a").unlink()
    (source.state / "files.draft").write_bytes(MAGIC + b"F 9 9")
    source.day = 20
    assert source.run("d") == ["d"]
    assert not (source.state / "files.draft").exists()


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (b"lakeward auto loader state 1\n", "CF_UNSUPPORTED_LOG_VERSION"),
        (b"lakeward auto loader state 3\nZ\n", "CF_UNSUPPORTED_LOG_VERSION"),
        (b"RocksDB", "CF_LOG_FILE_MALFORMED"),
    ],
)
def test_state_of_another_version_is_an_error_that_names_it(
    tmp_path: Path, text: bytes, condition: str
) -> None:
    source = Source(tmp_path)
    source.state.mkdir()
    (source.state / "files.log").write_bytes(text)
    with pytest.raises(CloudFilesError, match=condition) as error:
        source.run("a")
    assert "start a new checkpoint" in str(error.value)
    assert (source.state / "files.log").read_bytes() == text


def test_an_offset_of_a_newer_version_is_an_error(tmp_path: Path) -> None:
    source = Source(tmp_path)
    source.run("a")
    assert source.at is not None
    source.at = {**source.at, "sourceVersion": 2}
    with pytest.raises(CloudFilesError, match="CF_UNSUPPORTED_LOG_VERSION"):
        source.run("b")


@pytest.mark.parametrize("tail", [b"F 3 1 40", b"\0" * 4096, b"F 3 1 4 0 2 00000000\nab"])
def test_a_torn_tail_is_written_over(tmp_path: Path, tail: bytes) -> None:
    source = Source(tmp_path)
    source.run("a", "b")
    with (source.state / "files.log").open("ab") as stream:
        stream.write(tail)
    assert source.run("c") == ["c"]
    assert source.run() == []


def test_damage_in_the_middle_is_an_error_and_nothing_is_cut(tmp_path: Path) -> None:
    source = Source(tmp_path)
    source.run("a", "b")
    source.run("c")
    log = source.state / "files.log"
    whole = log.read_bytes()
    damaged = bytearray(whole)
    damaged[len(MAGIC) + 40] ^= 1
    one_is_missing = whole + encode_frame(5, [])
    for data in (bytes(damaged), one_is_missing):
        log.write_bytes(data)
        with pytest.raises(CloudFilesError, match="CF_LOG_FILE_MALFORMED"):
            FileRegistry(StateLog(source.state))
        with pytest.raises(CloudFilesError, match="CF_LOG_FILE_MALFORMED"):
            source.run("e")
        assert log.read_bytes() == data


@pytest.mark.rule("6.7")
def test_a_row_a_file_of_a_checkpoint_and_files_left_out_are_not_ingested(tmp_path: Path) -> None:
    source = Source(tmp_path, includeExistingFiles="false")
    source.state = tmp_path / "checkpoint" / "sources" / "0"
    source.put("old")
    tracker = source.tracker()
    source.at = tracker.initial_offset()
    source.run("a")
    source.run("b")
    for place in (tmp_path / "checkpoint", source.state):
        found = {
            Path(row.path).name: (row.ingestion_state, row.commit_time is None) for row in file_states(place)
        }
        assert found == {"old": (None, True), "a": ("INGESTED", False), "b": ("PROCESSING", True)}
    with pytest.raises(CloudFilesError, match="CF_STATE_INVALID_CHECKPOINT_PATH"):
        list(file_states(tmp_path / "nothing"))


@pytest.mark.rule("6.3", "6.7")
def test_the_state_distinguishes_missing_and_corrupt_files(tmp_path: Path) -> None:
    source = Source(tmp_path, allowOverwrites="true")
    source.state = tmp_path / "checkpoint" / "sources" / "0"
    source.put("gone", "broken.gz", "line\nbreak.gz", "whole")
    tracker = source.tracker()
    start = tracker.initial_offset()
    source.at = tracker.latest(start, limited=True)
    files = tracker.files(start, source.at)
    (source.folder / "gone").unlink()
    leniently = {"cloudFiles.format": "json", "ignoreMissingFiles": "true", "ignoreCorruptFiles": "true"}
    skips = StateLog(source.state).skips
    contents = FileContents(Options.of(leniently), skips=skips)
    assert [contents.of(status) for status in files].count(None) == 3
    source.put("broken.gz", text="other")
    os.utime(source.folder / "broken.gz", (1, 1))
    source.run()

    def states() -> dict[str, list[str | None]]:
        found: dict[str, list[str | None]] = {}
        for row in file_states(tmp_path / "checkpoint"):
            found.setdefault(row.path.rpartition("/")[2], []).append(row.ingestion_state)
        return found

    assert states() == {
        "gone": ["SKIPPED_MISSING"],
        "broken.gz": ["INGESTED", "SKIPPED_CORRUPTED"],
        "line\nbreak.gz": ["SKIPPED_CORRUPTED"],
        "whole": ["INGESTED"],
    }
    skips.unmark(status.key for status in files)
    assert not {"SKIPPED_MISSING", "SKIPPED_CORRUPTED"} & {
        state for row in states().values() for state in row
    }


@pytest.mark.rule("6.3")
@pytest.mark.parametrize("ignored", [False, True])
def test_a_file_that_is_gone_before_it_is_read_is_an_error_or_skipped(tmp_path: Path, ignored: bool) -> None:
    source = Source(tmp_path)
    source.put("a", "b")
    tracker = source.tracker()
    start = tracker.initial_offset()
    files = tracker.files(start, tracker.latest(start, limited=True))
    (source.folder / "a").unlink()
    contents = FileContents(Options.of({"cloudFiles.format": "json", "ignoreMissingFiles": str(ignored)}))
    if ignored:
        assert [contents.of(status) for status in files] == [None, b"{}"]
    else:
        with pytest.raises(CloudFilesError, match=r"FAILED_READ_FILE\.FILE_NOT_EXIST"):
            contents.of(files[0])
