"""Delta tables, read from their logs with Arrow: the metadata alone, or all of the newest version."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson

from lakeward.atomic_files import read_regular
from lakeward.errors import LakewardError

_COMMIT = re.compile(r"^(\d{20})\.json$")
# One file, one of several parts, or a version 2 checkpoint with a random name.
_CHECKPOINT = re.compile(r"^(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.(parquet|json)$")
_FIELDS = {
    "add": ("path", "partitionValues", "size", "stats", "stats_parsed", "deletionVector"),
    "remove": ("path", "deletionTimestamp", "deletionVector"),
    "metaData": ("id", "description", "schemaString", "partitionColumns", "configuration", "createdTime"),
    "domainMetadata": ("domain", "configuration", "removed"),
    "sidecar": ("path",),
}

# What reading a damaged file raises: Arrow's errors are OSError or ValueError.
_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True)
class DataFile:
    """A file of the newest version; `statistics` is empty where the log has none."""

    path: str
    size: int
    partition: tuple[tuple[str, str | None], ...]
    statistics: Mapping[str, Any]
    statistics_bytes: int
    deleted_rows: int

    @property
    def rows(self) -> int:
        """Return the rows in the file, deleted ones included; 0 if unknown."""
        return int(self.statistics.get("numRecords") or 0)


@dataclass(frozen=True)
class LogFile:
    """A commit or checkpoint."""

    version: int
    name: str
    size: int
    modified: float


@dataclass(frozen=True)
class TableMetadata:
    """What is known of a table without its files; times are in milliseconds.

    Attributes:
        action: The newest `metaData` action.
        created: The time of its creation, or of the oldest commit in the log.
        updated: The time of the newest commit.
    """

    action: Mapping[str, Any]
    created: int
    updated: int

    @property
    def properties(self) -> dict[str, str]:
        """Return the table properties."""
        return {str(key): str(value) for key, value in dict(self.action.get("configuration") or {}).items()}


@dataclass
class TableState:
    """The newest version of a table, and its log."""

    folder: Path
    version: int
    files: list[DataFile]
    removed: dict[str, float]
    configuration: dict[str, str]
    partition_columns: list[str]
    clustering_columns: list[str]
    columns: list[tuple[str, Any]]
    logical_names: dict[str, str]
    checkpoint: int | None
    log_files: list[LogFile] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Return the size of the newest version."""
        return sum(each.size for each in self.files)

    def unreferenced(self) -> Iterator[tuple[float, int]]:
        """Yield the time since which a data file is unused, in seconds of the epoch, and its size.

        The log drops entries of removed files when they expire; for these the time of the last change counts.
        """
        live = {unquote(each.path) for each in self.files}
        for path, entry in _data_files(self.folder, ""):
            if path not in live:
                found = entry.stat()
                yield self.removed.get(path, found.st_mtime), found.st_size


def _data_files(folder: Path | str, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            # As VACUUM: hidden names are not data, unless they are partitions of a column with such a name.
            hidden = entry.name.startswith((".", "_")) and "=" not in entry.name
            if hidden or entry.is_symlink():
                continue
            if entry.is_dir():
                yield from _data_files(entry.path, f"{prefix}{entry.name}/")
            elif entry.name.endswith(".parquet"):
                yield f"{prefix}{entry.name}", entry


def read_table(folder: Path) -> TableState:
    """Return the state of the table in `folder`.

    Raises:
        LakewardError: DELTA_TABLE_NOT_FOUND, DELTA_LOG_UNREADABLE or DELTA_LOG_INCOMPLETE.
    """
    log = folder / "_delta_log"
    try:
        commits, checkpoints, listed = _listing(log)
    except FileNotFoundError:
        raise LakewardError(
            "DELTA_TABLE_NOT_FOUND",
            f"{folder.name} has no _delta_log: it is not a Delta table.",
            next_step="Name the folder of a Delta table.",
        ) from None
    except OSError as error:
        raise _unreadable("_delta_log", error) from None
    start = max(checkpoints, default=None)
    reader = _Replay()
    if start is not None:
        for file in checkpoints[start]:
            _replay(reader, file, _checkpoint_actions)
    newest = max(commits, default=start)
    if newest is None:
        raise LakewardError(
            "DELTA_LOG_INCOMPLETE",
            f"The log of {folder.name} has no commit.",
            next_step="Restore the files of its _delta_log, or write the table again.",
        )
    for version in range(0 if start is None else start + 1, newest + 1):
        if version not in commits:
            raise LakewardError(
                "DELTA_LOG_INCOMPLETE",
                f"The log of {folder.name} lacks version {version}; the newest is {newest}.",
                next_step="Restore the file from a backup, or create the table again.",
            )
        _replay(reader, commits[version], _commit_actions)
    try:
        return reader.state(folder, newest, start, listed)
    except _DAMAGE as error:
        raise _unreadable("The table's metadata", error) from None


def read_metadata(folder: Path) -> TableMetadata | None:
    """Return the metadata of the table in `folder`; None without a log that has any.

    The newest commit with metadata ends the search, so of most tables it is the only part that is read.

    Raises:
        LakewardError: DELTA_LOG_UNREADABLE for a damaged commit: no older one replaces it.
    """
    try:
        commits, checkpoints, listed = _listing(folder / "_delta_log")
    except FileNotFoundError:
        return None
    start = max(checkpoints, default=-1)
    newest_first = sorted(commits, reverse=True)
    found = (
        _first(_commit_metadata(commits[version]) for version in newest_first if version > start)
        or _first(_checkpoint_metadata(file) for file in checkpoints.get(start, ()))
        or _first(_commit_metadata(commits[version]) for version in newest_first if version <= start)
    )
    if found is None:
        return None
    times = {each.version: int(each.modified * 1000) for each in listed if _COMMIT.match(each.name)}
    first, last = times.get(min(times, default=0), 0), times.get(max(times, default=0), 0)
    return TableMetadata(found, int(found.get("createdTime") or first), last)


def _first(found: Iterable[dict[str, Any] | None]) -> dict[str, Any] | None:
    return next((each for each in found if each), None)


def _commit_metadata(file: Path) -> dict[str, Any] | None:
    try:
        lines = read_regular(file).splitlines()
        if not isinstance(orjson.loads(lines[-1]), dict):
            raise ValueError("a line is not an action")
        found = [orjson.loads(line)["metaData"] for line in lines if line.startswith(b'{"metaData"')]
        return dict(found[-1]) if found else None
    except (*_DAMAGE, IndexError) as error:
        raise LakewardError(
            "DELTA_LOG_UNREADABLE",
            f"{file} is damaged: {str(error).partition(chr(10))[0]}",
            next_step="Restore the file from a backup, or create the table again.",
        ) from None


def _checkpoint_metadata(file: Path) -> dict[str, Any] | None:
    """Return the metadata in a part of a checkpoint; None for a damaged one, which commits replace."""
    try:
        actions = _checkpoint_actions(file, ("metaData",))
        return _first(action.get("metaData") for action in actions)
    except _DAMAGE:
        return None


def _listing(log: Path) -> tuple[dict[int, Path], dict[int, list[Path]], list[LogFile]]:
    """Return commits and complete checkpoints by version, and all log files."""
    commits: dict[int, Path] = {}
    parts: dict[tuple[int, int], list[Path]] = {}
    listed: list[LogFile] = []
    with os.scandir(log) as entries:
        for entry in entries:
            match = _COMMIT.match(entry.name) or _CHECKPOINT.match(entry.name)
            if match is None:
                continue
            version, found = int(match[1]), entry.stat()
            listed.append(LogFile(version, entry.name, found.st_size, found.st_mtime))
            if match.re is _COMMIT:
                commits[version] = Path(entry.path)
            else:
                parts.setdefault((version, int(match[3] or 1)), []).append(Path(entry.path))
    checkpoints = {
        version: sorted(files)[: None if count > 1 else 1]
        for (version, count), files in parts.items()
        if len(files) >= count
    }
    return commits, checkpoints, listed


def _replay(reader: _Replay, file: Path, read: Callable[[Path], Iterable[dict[str, Any]]]) -> None:
    try:
        reader.replay(read(file))
    except _DAMAGE as error:
        raise _unreadable(file.name, error) from None


def _unreadable(name: str, error: Exception) -> LakewardError:
    reason = (
        error.strerror if isinstance(error, OSError) and error.strerror else str(error).partition("\n")[0]
    )
    return LakewardError(
        "DELTA_LOG_UNREADABLE",
        f"{name} cannot be read: {reason[:200]}",
        next_step="Restore the file from a backup, or create the table again.",
    )


def _commit_actions(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_bytes().splitlines():
        if line.strip():
            action = orjson.loads(line)
            if not isinstance(action, dict):
                raise ValueError("a line is not an action")
            yield action


def _checkpoint_actions(file: Path, kinds: Collection[str] = tuple(_FIELDS)) -> Iterator[dict[str, Any]]:
    if file.suffix == ".json":
        actions: Iterable[dict[str, Any]] = _commit_actions(file)
    else:
        actions = _parquet_actions(file, kinds)
    for action in actions:
        sidecar = action.get("sidecar")
        if sidecar:
            yield from _parquet_actions(file.parent / "_sidecars" / Path(sidecar["path"]).name, kinds)
        else:
            yield action


def _parquet_actions(file: Path, kinds: Collection[str]) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    parquet = pq.ParquetFile(file)
    found = {field.name: {each.name for each in field.type} for field in parquet.schema_arrow}
    wanted = [f"{kind}.{name}" for kind in kinds for name in _FIELDS[kind] if name in found.get(kind, ())]
    # Without statistics as JSON there are parsed ones; both would be read twice.
    if "add.stats" in wanted and "add.stats_parsed" in wanted:
        wanted.remove("add.stats_parsed")
    for batch in parquet.iter_batches(columns=wanted):
        for kind in batch.schema.names:
            column = batch.column(kind)
            yield from ({kind: value} for value in column.filter(column.is_valid()).to_pylist())


class _Replay:
    """Actions in the order of their versions, reduced to the newest state."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], DataFile] = {}
        self.removed: dict[str, float] = {}
        self.metadata: dict[str, Any] = {}
        self.clustering: list[str] = []

    def replay(self, actions: Iterable[dict[str, Any]]) -> None:
        # Within one version a file may be removed and added again with another deletion vector.
        added: dict[tuple[str, str], DataFile] = {}
        for action in actions:
            if add := action.get("add"):
                added[_key(add)] = _data_file(add)
            elif remove := action.get("remove"):
                self.files.pop(_key(remove), None)
                self.removed[unquote(remove["path"])] = (remove.get("deletionTimestamp") or 0) / 1000
            elif metadata := action.get("metaData"):
                self.metadata = metadata
            elif (domain := action.get("domainMetadata")) and domain.get("domain") == "delta.clustering":
                described = {} if domain.get("removed") else orjson.loads(domain["configuration"])
                self.clustering = [".".join(parts) for parts in described.get("clusteringColumns") or ()]
        self.files |= added

    def state(self, folder: Path, version: int, checkpoint: int | None, listed: list[LogFile]) -> TableState:
        schema = orjson.loads(self.metadata.get("schemaString") or "{}")
        return TableState(
            folder=folder,
            version=version,
            files=list(self.files.values()),
            removed=self.removed,
            configuration=dict(self.metadata.get("configuration") or {}),
            partition_columns=list(self.metadata.get("partitionColumns") or ()),
            clustering_columns=self.clustering,
            columns=[(str(each.get("name")), each.get("type")) for each in schema.get("fields", ())],
            logical_names={
                (each.get("metadata") or {}).get("delta.columnMapping.physicalName", each.get("name")): each[
                    "name"
                ]
                for each in schema.get("fields", ())
            },
            checkpoint=checkpoint,
            log_files=listed,
        )


def _key(action: Mapping[str, Any]) -> tuple[str, str]:
    vector = action.get("deletionVector") or {}
    return action["path"], f"{vector.get('pathOrInlineDv')}@{vector.get('offset')}" if vector else ""


def _data_file(add: Mapping[str, Any]) -> DataFile:
    text = add.get("stats")
    if isinstance(text, str) and text:
        statistics, length = orjson.loads(text), len(text)
    else:
        statistics = add.get("stats_parsed") or {}
        length = len(str(statistics)) if statistics else 0
    return DataFile(
        path=add["path"],
        size=int(add.get("size") or 0),
        partition=tuple(sorted(dict(add.get("partitionValues") or {}).items())),
        statistics=statistics,
        statistics_bytes=length,
        deleted_rows=int((add.get("deletionVector") or {}).get("cardinality") or 0),
    )
