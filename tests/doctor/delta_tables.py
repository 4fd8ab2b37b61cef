"""Delta tables written action by action: a sick one and its healthy twin for each finding on tables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOW = 1_800_000_000.0
DAY = 86_400
MB = 2**20
FIELDS = [("id", "long"), ("day", "string"), ("value", "double")]


@dataclass
class DeltaTable:
    """A table whose files have a size in the log and one byte on disk."""

    folder: Path
    configuration: Mapping[str, str] = field(default_factory=dict)
    partition_columns: tuple[str, ...] = ()
    clustering: tuple[str, ...] = ()
    columns: list[tuple[str, str]] = field(default_factory=lambda: list(FIELDS))
    version: int = -1
    written: int = 0

    def __post_init__(self) -> None:
        (self.folder / "_delta_log").mkdir(parents=True)
        fields = [
            {"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in self.columns
        ]
        actions: list[dict[str, Any]] = [
            {
                "protocol": {
                    "minReaderVersion": 3,
                    "minWriterVersion": 7,
                    "readerFeatures": ["deletionVectors"],
                }
            },
            {
                "metaData": {
                    "id": "4c3b0f6e-0000-4000-8000-000000000000",
                    "schemaString": json.dumps({"type": "struct", "fields": fields}),
                    "partitionColumns": list(self.partition_columns),
                    "configuration": dict(self.configuration),
                }
            },
        ]
        if self.clustering:
            described = json.dumps({"clusteringColumns": [[name] for name in self.clustering]})
            domain = {"domain": "delta.clustering", "configuration": described, "removed": False}
            actions.append({"domainMetadata": domain})
        self.commit(*actions)

    def commit(self, *actions: dict[str, Any], age_days: float = 0) -> None:
        """Write the next version."""
        self.version += 1
        file = self.folder / "_delta_log" / f"{self.version:020}.json"
        file.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
        when = NOW - age_days * DAY
        os.utime(file, (when, when))

    def add(
        self,
        size: int = 200 * MB,
        *,
        partition: Mapping[str, str] | None = None,
        stats: Mapping[str, Any] | bool | None = True,
        rows: int = 1000,
        deleted: int = 0,
        on_disk: bool = False,
    ) -> dict[str, Any]:
        """Return the action that adds a new file; `stats=None` leaves them out."""
        self.written += 1
        folder = "".join(f"{name}={value}/" for name, value in (partition or {}).items())
        path = f"{folder}part-{self.written:05}.parquet"
        low = self.written * 1000
        if stats is True:
            stats = {"minValues": {"id": low, "day": "a"}, "maxValues": {"id": low + 999, "day": "b"}}
        action: dict[str, Any] = {
            "path": path,
            "partitionValues": dict(partition or {}),
            "size": size,
            "modificationTime": int(NOW * 1000),
            "dataChange": True,
        }
        if stats is not None:
            nulls = {"nullCount": dict.fromkeys(stats.get("minValues", {}), 0)} if stats else {}
            action["stats"] = json.dumps({"numRecords": rows, **stats, **nulls})
        if deleted:
            vector = {"storageType": "u", "pathOrInlineDv": f"x{self.written}", "offset": 1}
            action["deletionVector"] = {**vector, "sizeInBytes": 30, "cardinality": deleted}
        if on_disk:
            self.put(path)
        return {"add": action}

    def put(self, path: str, *, age_days: float = 0, size: int = 1) -> None:
        """Write a data file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            out.truncate(size)
        os.utime(file, (NOW - age_days * DAY,) * 2)

    def checkpoint(self, actions: list[dict[str, Any]], *, parts: int = 1) -> None:
        """Write a checkpoint of the newest version with these actions, in one or several files."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds = {kind for action in actions for kind in action}
        rows = [{kind: _arrow(kind, action.get(kind)) for kind in kinds} for action in actions]
        schema = pa.schema([(kind, _TYPES[kind]) for kind in sorted(kinds)])
        for part in range(parts):
            marks = "" if parts == 1 else f".{part + 1:010}.{parts:010}"
            name = f"{self.version:020}.checkpoint{marks}.parquet"
            share = rows[part::parts]
            pq.write_table(pa.Table.from_pylist(share, schema=schema), self.folder / "_delta_log" / name)


def _arrow(kind: str, value: dict[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    maps = {"partitionValues", "configuration"} if kind in ("add", "metaData") else set()
    return {key: list(each.items()) if key in maps else each for key, each in value.items()}


def _types() -> dict[str, Any]:
    import pyarrow as pa

    texts = pa.map_(pa.string(), pa.string())
    vector = pa.struct(
        [("storageType", pa.string()), ("pathOrInlineDv", pa.string()), ("offset", pa.int32()),
         ("sizeInBytes", pa.int32()), ("cardinality", pa.int64())]
    )  # fmt: skip
    add = [("path", pa.string()), ("partitionValues", texts), ("size", pa.int64()),
           ("modificationTime", pa.int64()), ("dataChange", pa.bool_()), ("stats", pa.string()),
           ("deletionVector", vector)]  # fmt: skip
    return {
        "add": pa.struct(add),
        "remove": pa.struct(
            [("path", pa.string()), ("deletionTimestamp", pa.int64()), ("deletionVector", vector)]
        ),
        "metaData": pa.struct(
            [("id", pa.string()), ("schemaString", pa.string()), ("partitionColumns", pa.list_(pa.string())),
             ("configuration", texts)]
        ),
        "protocol": pa.struct([("minReaderVersion", pa.int32())]),
        "domainMetadata": pa.struct(
            [("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())]
        ),
    }  # fmt: skip


_TYPES = _types()


def small_files(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder)
    # The twin has one merge fewer than the finding needs.
    table.commit(*(table.add(MB) for _ in range(51 if sick else 50)), table.add())


def over_partitioned(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder, partition_columns=("day", "hour"))
    days = [table.add((15 if sick else 17) * MB, partition={"day": "1", "hour": str(n)}) for n in range(100)]
    table.commit(*days)


def statistics_missing(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder)
    table.commit(*(table.add(stats=None if n < (10 if sick else 9) else True) for n in range(30)))


def statistics_too_wide(folder: Path, *, sick: bool) -> None:
    names = [f"column_{number}" for number in range(200)]
    table = DeltaTable(folder, columns=[(name, "string") for name in names])
    low = dict.fromkeys(names, "x" * (32 if sick else 5))
    table.commit(*(table.add(stats={"minValues": low}) for _ in range(20)))


def deletion_vectors(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder)
    table.commit(*(table.add(rows=1000, deleted=100 if sick else 99) for _ in range(10)))


def vacuum_debt(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder)
    live = table.add(10_000, on_disk=True)
    old = [table.add(1000) for _ in range(20)]
    table.commit(live, *old)
    for each in old:
        table.put(each["add"]["path"], age_days=100, size=1000)
    # Removed 8 days ago, and 6 days ago: the retention is 7.
    when = int((NOW - (8 if sick else 6) * DAY) * 1000)
    gone = ({"remove": {"path": each["add"]["path"], "deletionTimestamp": when}} for each in old)
    table.commit(*gone)


def short_retention(folder: Path, *, sick: bool) -> None:
    span = "interval 6 days 23 hours" if sick else "interval 1 week"
    table = DeltaTable(folder, {"delta.deletedFileRetentionDuration": span})
    table.commit(table.add())


def clustering_debt(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder, clustering=("id",))
    one = {"minValues": {"id": 0}, "maxValues": {"id": 10**9}}
    table.commit(*(table.add(stats=one if n < (15 if sick else 9) else True) for n in range(20)))


def checkpoint_overdue(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder)
    for _ in range(199 if sick else 198):
        table.commit(table.add())


def log_cleanup_off(folder: Path, *, sick: bool) -> None:
    table = DeltaTable(folder, {"delta.enableExpiredLogCleanup": "false"})
    meta = json.loads((folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()[1])
    os.utime(folder / "_delta_log" / f"{0:020}.json", (NOW - 32 * DAY,) * 2)
    files = [table.add() for _ in range(200)]
    for number, each in enumerate(files):
        table.commit(each, age_days=32 if sick or number > 5 else 30)
    table.checkpoint([meta, *files])


SEEDS: dict[str, Callable[..., None]] = {
    "small-files": small_files,
    "over-partitioned": over_partitioned,
    "statistics-missing": statistics_missing,
    "statistics-too-wide": statistics_too_wide,
    "deletion-vectors": deletion_vectors,
    "vacuum-debt": vacuum_debt,
    "short-retention": short_retention,
    "clustering-debt": clustering_debt,
    "checkpoint-overdue": checkpoint_overdue,
    "log-cleanup-off": log_cleanup_off,
}
"""The function that writes the table of each finding, sick or healthy."""
