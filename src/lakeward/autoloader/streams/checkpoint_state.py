"""`cloud_files_state`: the files in a checkpoint and their state (AL-6.7)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lakeward.autoloader.discovery.file_names import session_file_names
from lakeward.autoloader.state.frames import CleanedFile, Frame
from lakeward.autoloader.state.state_log import StateLog, commit_times
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STATE_TYPE = (
    "path string not null, size bigint not null, create_time timestamp not null, discovery_time timestamp, "
    "processed_time timestamp, commit_time timestamp, archive_time timestamp, archive_mode string, "
    "move_location string, source_id string, flow_name string, ingestion_state string"
)


class FileState(NamedTuple):
    """One row of `cloud_files_state`."""

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


def table_states(spark: SparkSession, table: str, checkpoints: Mapping[str, Path]) -> DataFrame:
    """Return the rows of `file_states` of a streaming table.

    Args:
        spark: The session.
        table: The table's name, for messages.
        checkpoints: The checkpoint of each flow that fills the table, by the flow's name.

    Raises:
        CloudFilesError: CF_STATE_INVALID_CHECKPOINT_PATH: no flow reads with Auto Loader.
    """
    folders = [
        (flow, folder)
        for flow, checkpoint in sorted(checkpoints.items())
        for folder in _source_directories(checkpoint)
    ]
    if not folders:
        raise CloudFilesError(
            "CF_STATE_INVALID_CHECKPOINT_PATH",
            f"cloud_files_state was called with the table {table}, which no flow of a pipeline fills from "
            "files with Auto Loader.",
            next_step="Name a streaming table over read_files or cloudFiles that was updated, or pass a "
            "checkpoint: cloud_files_state('<checkpointLocation>').",
        )
    rows = [each._replace(flow_name=flow) for flow, folder in folders for each in _source_states(folder)]
    return spark.createDataFrame(rows, STATE_TYPE)


def cloud_files_state(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Return the rows of `file_states` for a user's path; raise its errors as AnalysisException."""
    from lakeward.autoloader.error_translation import to_analysis_exception

    try:
        rows = list(file_states(Path(session_file_names().local(checkpoint))))
    except CloudFilesError as error:
        raise to_analysis_exception(error) from None
    return spark.createDataFrame(rows, STATE_TYPE)


def file_states(checkpoint: Path) -> Iterator[FileState]:
    """Yield a row per file of each Auto Loader source in `<checkpoint>` or `<checkpoint>/sources/<n>`.

    Raises CF_STATE_INVALID_CHECKPOINT_PATH if there are no such sources.
    """
    folders = _source_directories(checkpoint)
    if not folders:
        raise CloudFilesError(
            "CF_STATE_INVALID_CHECKPOINT_PATH",
            f"{checkpoint} has no state of a cloudFiles stream.",
            next_step="Pass the checkpointLocation of a stream that has run at least once.",
        )
    for folder in folders:
        yield from _source_states(folder)


def _source_directories(path: Path) -> list[Path]:
    directories = [path] if path.parent.name == "sources" else sorted((path / "sources").glob("*"))
    return [folder for folder in directories if StateLog(folder).path.exists()]


def _source_states(folder: Path) -> Iterator[FileState]:
    log = StateLog(folder)
    frames = list(log.frames())
    skipped = _latest_frames(frames, log.skips.reasons())
    done = {**_commit_log_times(folder, frames), **commit_times(frames)}
    gone: dict[str, tuple[int, CleanedFile]] = {
        file.key: (frame.assigned_at, file)
        for frame in frames
        if frame.kind == "A"
        for file in frame.cleaned()
    }
    for frame in frames:
        if frame.kind == "A":
            continue
        read = frame.kind in "FK"
        commit = _to_datetime(done.get(frame.start)) if read else None
        state = ("INGESTED" if commit else "PROCESSING") if read else None
        for entry in frame.entries():
            when, cleaned = gone.get(entry.key, (None, None))
            yield FileState(
                path=entry.key,
                size=entry.size,
                create_time=_to_datetime(entry.mtime / 1000) or _EPOCH,
                discovery_time=_to_datetime(frame.assigned_at),
                processed_time=_to_datetime(frame.assigned_at) if read else None,
                commit_time=commit,
                archive_time=_to_datetime(when),
                archive_mode=cleaned.mode if cleaned else None,
                move_location=(cleaned.location or None) if cleaned else None,
                source_id=folder.name,
                flow_name=None,
                ingestion_state=skipped.get((entry.key, frame.start), state),
            )


def _latest_frames(frames: list[Frame], noted: dict[str, str]) -> dict[tuple[str, int], str]:
    """Map markers of skipped files to the last frame of each file."""
    last = {
        entry.key: frame.start
        for frame in frames
        if noted and frame.kind in "FK"
        for entry in frame.entries()
        if entry.key in noted
    }
    return {(key, start): noted[key] for key, start in last.items()}


def _commit_log_times(folder: Path, frames: list[Frame]) -> dict[int, int]:
    """Return commit times of the last batches from the stream's own commit log."""
    root = folder.parent.parent
    done: list[tuple[int, int]] = []
    for commit in (root / "commits").glob("[0-9]*"):
        last = _end_offset(root / "offsets" / commit.name, folder.name)
        if last is not None:
            done.append((last, commit.stat().st_mtime_ns // 1_000_000))
    out: dict[int, int] = {}
    for frame in frames:
        times = [when for last, when in done if last >= frame.last]
        if frame.kind == "F" and times:
            out[frame.start] = min(times)
    return out


def _end_offset(offsets: Path, source: str) -> int | None:
    """Return the end of a batch from Spark's offset log: version, metadata, then a line per source."""
    try:
        line = offsets.read_text().split("\n")[2 + int(source)]
        return int(json.loads(line)["seqNum"])
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return None


_EPOCH = datetime.fromtimestamp(0, timezone.utc)


def _to_datetime(milliseconds: float | None) -> datetime | None:
    """Return None for an unknown time."""
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc) if milliseconds else None
