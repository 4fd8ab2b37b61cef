"""The state of a stream survives any truncation of its log and is never partial."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.autoloader.discovery.file_listing import FileLister, FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.storage import open_storage
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.state.frames import MAGIC, FileEntry, Frame, encode_frame, read_frames
from lakeward.autoloader.state.state_log import StateLog
from lakeward.autoloader.streams.file_registry import FileRegistry
from lakeward.autoloader.streams.file_tracker import FileTracker, Offset
from lakeward.errors import CloudFilesError
from lakeward.session.paths import PathMap

BATCHES = [
    [FileEntry("a", 1, 10), FileEntry("b\n\\n\\", 2, 20)],
    [FileEntry("ü 😀", 3, 30)],
    [FileEntry("c", 4, 40), FileEntry("d", 5, 50)],
]


def frames(data: bytes) -> list[Frame]:
    return list(read_frames(io.BytesIO(data), len(data)))


def log_of(folder: Path) -> StateLog:
    registry = FileRegistry(StateLog(folder))
    for batch in BATCHES:
        registry.add(batch)
    return StateLog(folder)


def test_what_was_taken_is_read_again(tmp_path: Path) -> None:
    registry = FileRegistry(log_of(tmp_path))
    assert registry.last == 5
    assert registry.between(0, 5) == [entry for batch in BATCHES for entry in batch]
    assert registry.between(1, 3) == [BATCHES[0][1], BATCHES[1][0]]
    assert registry.contains("b\n\\n\\")
    assert not registry.contains("b")


def test_a_log_cut_at_every_byte_gives_whole_batches_and_can_go_on(tmp_path: Path) -> None:
    whole = log_of(tmp_path / "whole").path.read_bytes()
    ends = [frame.end for frame in frames(whole)]
    for length in range(len(whole) + 1):
        folder = tmp_path / str(length)
        folder.mkdir()
        (folder / "files.log").write_bytes(whole[:length])
        registry = FileRegistry(StateLog(folder))
        batches = sum(end <= length for end in ends)
        kept = [entry for batch in BATCHES[:batches] for entry in batch]
        assert registry.between(0, registry.last) == kept
        registry.add([FileEntry("next", 9, 9)])
        assert FileRegistry(StateLog(folder)).between(0, registry.last) == [*kept, FileEntry("next", 9, 9)]


def test_a_flipped_bit_never_gives_wrong_files(tmp_path: Path) -> None:
    whole = log_of(tmp_path).path.read_bytes()
    expected = [entry for batch in BATCHES for entry in batch]
    for at in range(len(MAGIC), len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        try:
            found = [entry for frame in frames(bytes(damaged)) for entry in frame.entries()]
        except CloudFilesError as error:
            assert error.condition == "CF_LOG_FILE_MALFORMED"
            continue
        assert found == expected[: len(found)]
        assert len(found) < len(expected)


def test_offsets_that_the_log_lost_are_an_error_and_nothing_is_cut(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    before = log.path.read_bytes()
    registry = FileRegistry(log)
    for call in (
        lambda: registry.between(0, 6),
        lambda: registry.drop_after(4),
        lambda: registry.drop_after(9),
    ):
        with pytest.raises(CloudFilesError, match="END_SEQ_NUM_GREATER_THAN_LATEST_SEQ_NUM"):
            call()
    assert log.path.read_bytes() == before


def test_a_foreign_file_is_not_taken_for_a_log(tmp_path: Path) -> None:
    (tmp_path / "files.log").write_bytes(b"something else")
    with pytest.raises(CloudFilesError, match="CF_LOG_FILE_MALFORMED"):
        FileRegistry(StateLog(tmp_path))


def test_files_of_a_batch_that_no_offset_names_are_forgotten_and_taken_again(tmp_path: Path) -> None:
    registry = FileRegistry(log_of(tmp_path))
    assert registry.drop_after(3) == BATCHES[2]
    assert (registry.last, registry.contains("c"), registry.contains("a")) == (3, False, True)
    registry.add([FileEntry("e", 6, 60)])
    assert FileRegistry(StateLog(tmp_path)).between(3, 4) == [FileEntry("e", 6, 60)]


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=3),
        max_size=4,
    )
)
def test_any_name_comes_back_as_it_was(names: list[list[str]]) -> None:
    data, first = MAGIC, 1
    for batch in names:
        data += encode_frame(first, [FileEntry(name, 1, 2) for name in batch])
        first += len(batch)
    assert [[e.key for e in frame.entries()] for frame in frames(data)] == names


def tracker_of(tmp_path: Path, **options: str) -> FileTracker:
    source = tmp_path / "in"
    source.mkdir(exist_ok=True)
    lister = FileLister(str(source), open_storage(str(source)), FileNames(PathMap(())))
    given = {f"cloudFiles.{key}": value for key, value in options.items()}
    return FileTracker(
        FileRegistry(StateLog(tmp_path / "state")), lister, Options.of({"cloudFiles.format": "json", **given})
    )


def names_of(files: list[FileStatus]) -> list[str]:
    return [Path(status.path).name for status in files]


def put(tmp_path: Path, *names: str) -> None:
    for name in names:
        (tmp_path / "in" / name).write_text("{}")


def test_a_crash_between_state_and_offset_log_loses_and_repeats_nothing(tmp_path: Path) -> None:
    tracker = tracker_of(tmp_path)
    put(tmp_path, "a", "b")
    start = tracker.initial_offset()
    tracker.latest(start, limited=True)
    put(tmp_path, "c")
    again = tracker_of(tmp_path)
    assert names_of(again.files(start, again.latest(again.initial_offset(), limited=True))) == ["a", "b", "c"]


@pytest.mark.rule("6.4.2")
def test_a_snapshot_leaves_later_files_out_and_ends(tmp_path: Path) -> None:
    tracker = tracker_of(tmp_path, maxFilesPerTrigger="2")
    put(tmp_path, "a", "b", "c")
    start = tracker.initial_offset()
    tracker.prepare_available_now()
    put(tmp_path, "d")
    middle = tracker.latest(start, limited=True)
    end = tracker.latest(middle, limited=True)
    assert tracker.latest(end, limited=True) == end
    assert names_of(tracker.files(start, middle) + tracker.files(middle, end)) == ["a", "b", "c"]


def test_a_snapshot_has_files_whose_batch_was_forgotten(tmp_path: Path) -> None:
    tracker = tracker_of(tmp_path)
    put(tmp_path, "a")
    start = tracker.initial_offset()
    tracker.latest(start, limited=True)
    again = tracker_of(tmp_path)
    again.prepare_available_now()
    assert names_of(again.files(start, again.latest(start, limited=True))) == ["a"]


def test_existing_files_stay_out_also_when_the_first_start_is_repeated(tmp_path: Path) -> None:
    tracker = tracker_of(tmp_path, includeExistingFiles="false")
    put(tmp_path, "old")
    first = tracker.initial_offset()
    put(tmp_path, "new")
    again = tracker_of(tmp_path, includeExistingFiles="false")
    assert again.initial_offset() == first
    assert names_of(again.files(first, again.latest(first, limited=True))) == ["new"]


def test_existing_files_are_in_no_snapshot_either(tmp_path: Path) -> None:
    tracker = tracker_of(tmp_path, includeExistingFiles="false")
    put(tmp_path, "old")
    tracker.prepare_available_now()
    first = tracker.initial_offset()
    assert tracker.latest(first, limited=True) == first


def test_a_first_start_without_files_begins_at_the_same_place_when_repeated(tmp_path: Path) -> None:
    tracker = tracker_of(tmp_path, includeExistingFiles="false")
    first = tracker.initial_offset()
    put(tmp_path, "new")
    end = tracker.latest(first, limited=True)
    assert tracker.initial_offset() == first
    again = tracker_of(tmp_path, includeExistingFiles="false")
    assert again.initial_offset() == first
    assert names_of(again.files(first, end)) == ["new"]
    assert again.latest(first, limited=True) == end
    assert again.initial_offset() == first


@pytest.mark.rule("6.1.2")
def test_the_number_in_the_offset_identifies_the_files(tmp_path: Path) -> None:
    tracker = tracker_of(tmp_path)
    put(tmp_path, "a")
    end: Offset = tracker.latest(tracker.initial_offset(), limited=True)
    assert end["seqNum"] == 1
    assert tracker.latest(end, limited=True) is end
