"""`cloud_files_state`: what a checkpoint knows of each file (auto-loader.md §6.7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lakeward.autoloader.discovery import Names
from lakeward.autoloader.state import Cleaned, Frame, StateLog, commit_times
from lakeward.errors import CloudFilesError
from lakeward.session import current_settings
from lakeward.session.paths import PathMap

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["STATE_TYPE", "FileState", "cloud_files_state", "states"]

STATE_TYPE = (
    "path string not null, size bigint not null, create_time timestamp not null, discovery_time timestamp, "
    "processed_time timestamp, commit_time timestamp, archive_time timestamp, archive_mode string, "
    "move_location string, source_id string, flow_name string, ingestion_state string"
)


class FileState(NamedTuple):
    """One row."""

    path: str
    size: int
    create_time: datetime
    discovery_time: datetime | None
    processed_time: datetime | None
    commit_time: datetime | None
    archive_time: datetime | None
    archive_mode: str | None
    move_location: str | None
    source_id: str
    flow_name: str | None
    ingestion_state: str | None


def cloud_files_state(spark: SparkSession, checkpoint: str) -> DataFrame:
    """The rows of `states` for a path as users write it. Raises as that does, as an AnalysisException."""
    from lakeward.autoloader.failures import at_definition

    settings = current_settings()
    names = Names(PathMap.of(settings) if settings else PathMap(()))
    try:
        found = list(states(Path(names.local(checkpoint))))
    except CloudFilesError as error:
        raise at_definition(error) from None
    return spark.createDataFrame(found, STATE_TYPE)


def states(checkpoint: Path) -> Iterator[FileState]:
    """A row for each file of each Auto Loader source of `<checkpoint>` or `<checkpoint>/sources/<n>`.

    Raises CF_STATE_PATH_DOES_NOT_EXIST where there is none of these.
    """
    folders = _sources(checkpoint)
    if not folders:
        raise CloudFilesError(
            "CF_STATE_PATH_DOES_NOT_EXIST",
            f"The state of a cloudFiles stream was asked for in {checkpoint}; there is none.",
            next_step="Name the checkpointLocation of a stream that has run at least once.",
        )
    for folder in folders:
        yield from _of_source(folder)


def _sources(path: Path) -> list[Path]:
    found = [path] if path.parent.name == "sources" else sorted((path / "sources").glob("*"))
    return [folder for folder in found if StateLog(folder).path.exists()]


def _of_source(folder: Path) -> Iterator[FileState]:
    log = StateLog(folder)
    frames = list(log.frames())
    skipped = _with_frame(frames, log.skips.noted())
    done = {**_by_commit_log(folder, frames), **commit_times(frames)}
    gone: dict[str, tuple[int, Cleaned]] = {
        file.key: (frame.taken, file) for frame in frames if frame.kind == "A" for file in frame.cleaned()
    }
    for frame in frames:
        if frame.kind == "A":
            continue
        read = frame.kind in "FK"
        commit = _time(done.get(frame.start)) if read else None
        state = ("INGESTED" if commit else "PROCESSING") if read else None
        for entry in frame.entries():
            when, cleaned = gone.get(entry.key, (None, None))
            yield FileState(
                path=entry.key,
                size=entry.size,
                create_time=_time(entry.mtime / 1000) or _EPOCH,
                discovery_time=_time(frame.taken),
                processed_time=_time(frame.taken) if read else None,
                commit_time=commit,
                archive_time=_time(when),
                archive_mode=cleaned.mode if cleaned else None,
                move_location=(cleaned.location or None) if cleaned else None,
                source_id=folder.name,
                flow_name=None,
                ingestion_state=skipped.get((entry.key, frame.start), state),
            )


def _with_frame(frames: list[Frame], noted: dict[str, str]) -> dict[tuple[str, int], str]:
    """Notes on left-out files, each for the last time that its file was taken."""
    last = {
        entry.key: frame.start
        for frame in frames
        if noted and frame.kind in "FK"
        for entry in frame.entries()
        if entry.key in noted
    }
    return {(key, start): noted[key] for key, start in last.items()}


def _by_commit_log(folder: Path, frames: list[Frame]) -> dict[int, int]:
    """Commit times of the last batches, which no later frame tells of yet: from the stream's own log."""
    root = folder.parent.parent
    done: list[tuple[int, int]] = []
    for commit in (root / "commits").glob("[0-9]*"):
        last = _number(root / "offsets" / commit.name, folder.name)
        if last is not None:
            done.append((last, commit.stat().st_mtime_ns // 1_000_000))
    out: dict[int, int] = {}
    for frame in frames:
        times = [when for last, when in done if last >= frame.last]
        if frame.kind == "F" and times:
            out[frame.start] = min(times)
    return out


def _number(offsets: Path, source: str) -> int | None:
    """Where a batch of this source ended, by Spark's offset log: version, metadata, then a line a source."""
    try:
        line = offsets.read_text().split("\n")[2 + int(source)]
        return int(json.loads(line)["seqNum"])
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return None


_EPOCH = datetime.fromtimestamp(0, timezone.utc)


def _time(milliseconds: float | None) -> datetime | None:
    """None for a time that is not known."""
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc) if milliseconds else None
