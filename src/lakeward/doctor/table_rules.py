"""The findings on tables: one function each, from a table's state to its evidence."""

from __future__ import annotations

import bisect
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.dataset_properties import KIND_PROPERTY
from lakeward.delta_log import DataFile, TableState
from lakeward.doctor import finding_table as limits
from lakeward.doctor.diagnosis import Diagnosis, Evidence, diagnose
from lakeward.quoting import quote_identifier, quote_string

_DAY = 86_400
_UNITS = {
    "microsecond": 1e-6, "millisecond": 1e-3, "second": 1, "minute": 60, "hour": 3600, "day": _DAY,
    "week": 7 * _DAY, "month": 30 * _DAY, "year": 365 * _DAY,
}  # fmt: skip
# Types whose minimum and maximum Delta records.
_SKIPPED_TYPES = re.compile(
    r"byte|short|integer|long|float|double|date|timestamp(_ntz)?|string|decimal\(.*\)|(var)?char\(.*\)"
)


@dataclass(frozen=True)
class Found:
    """Evidence of a finding, and the texts that its fix needs."""

    evidence: Evidence
    names: Mapping[str, str] | None = None


def table_diagnoses(state: TableState, subject: str, table: str, now: float) -> Iterator[Diagnosis]:
    """Yield the findings on a table.

    Args:
        state: The table.
        subject: Its name for people.
        table: Its quoted name in statements.
        now: The time, in seconds of the epoch.
    """
    for finding, rule in RULES.items():
        found = rule(state, now)
        if found is not None:
            names = {name: text.replace("{table}", table) for name, text in (found.names or {}).items()}
            yield diagnose(
                finding,
                subject,
                found.evidence,
                names={"table": table, **names},
                has_definition=KIND_PROPERTY in state.configuration,
            )


def small_files(state: TableState, now: float) -> Found | None:  # noqa: ARG001  # one signature for all rules
    saved = total = size = 0
    for files in _group_by_partition(state).values():
        small = [each.size for each in files if each.size < limits.SMALL_FILE_BYTES]
        if small:
            saved += len(small) - _merged(sum(small))
            total += len(small)
            size += sum(small)
    if saved < limits.SAVED_FILES:
        return None
    return Found(
        {
            "files": len(state.files),
            "small_files": total,
            "mean_bytes": size // total,
            "files_after": len(state.files) - saved,
        }
    )


def over_partitioned(state: TableState, now: float) -> Found | None:  # noqa: ARG001
    partitions = len(_group_by_partition(state)) if state.partition_columns else 0
    if partitions < limits.MANY_PARTITIONS or state.bytes / partitions >= limits.SMALL_FILE_BYTES:
        return None
    return Found(
        {
            "partitions": partitions,
            "columns": ", ".join(state.partition_columns),
            "mean_bytes": state.bytes // partitions,
            "files": len(state.files),
            "files_after": _merged(state.bytes),
        },
        # Liquid clustering takes four columns at most.
        {"clustering": ", ".join(map(quote_identifier, state.partition_columns[:4]))},
    )


def statistics_missing(state: TableState, now: float) -> Found | None:  # noqa: ARG001
    if not _skipping_columns(state):
        return None
    # A file whose columns are all null has no minimum, but a count of nulls.
    without = sum(
        not (each.statistics.get("minValues") or each.statistics.get("nullCount")) for each in state.files
    )
    if without < limits.UNREAD_STATISTICS_FILES or without * 10 < len(state.files):
        return None
    switched_off = state.configuration.get("delta.dataSkippingNumIndexedCols") == "0"
    restore = "ALTER TABLE {table} UNSET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols')"
    restored = "TBLPROPERTIES without 'delta.dataSkippingNumIndexedCols'"
    return Found(
        {"files": len(state.files), "files_without": without},
        {"restore": restore if switched_off else "", "restored": restored if switched_off else ""},
    )


def statistics_too_wide(state: TableState, now: float) -> Found | None:  # noqa: ARG001
    total = sum(each.statistics_bytes for each in state.files)
    if len(state.files) < limits.FEW_FILES or total / len(state.files) < limits.WIDE_STATISTICS_BYTES:
        return None
    columns = {name for each in state.files for name in each.statistics.get("nullCount") or ()}
    kept = [*state.clustering_columns, *_skipping_columns(state)]
    names = ",".join(map(quote_identifier, list(dict.fromkeys(kept))[:8]))
    return Found(
        {
            "files": len(state.files),
            "columns": len(columns),
            "mean_statistics_bytes": total // len(state.files),
            "statistics_bytes": total,
        },
        {"skipping": quote_string(names)},
    )


def deletion_vectors(state: TableState, now: float) -> Found | None:  # noqa: ARG001
    deleted = sum(each.deleted_rows for each in state.files)
    rows = sum(each.rows for each in state.files)
    if deleted < limits.DELETED_ROWS or deleted < rows * limits.DELETED_SHARE:
        return None
    return Found(
        {
            "files": len(state.files),
            "files_with_deletions": sum(each.deleted_rows > 0 for each in state.files),
            "deleted_rows": deleted,
            "rows": rows,
        }
    )


def vacuum_debt(state: TableState, now: float) -> Found | None:
    retention = _days(state, "delta.deletedFileRetentionDuration", 7)
    expired = [size for since, size in state.unreferenced() if since < now - retention * _DAY]
    if len(expired) < limits.EXPIRED_FILES or sum(expired) < min(state.bytes, limits.EXPIRED_BYTES):
        return None
    return Found(
        {
            "expired_files": len(expired),
            "expired_bytes": sum(expired),
            "live_bytes": state.bytes,
            "retention_days": retention,
        }
    )


def short_retention(state: TableState, now: float) -> Found | None:  # noqa: ARG001
    wanted = {"delta.deletedFileRetentionDuration": 7, "delta.logRetentionDuration": 30}
    found = {name: _days(state, name, default) for name, default in wanted.items()}
    short = [name for name, days in found.items() if days < limits.SHORTEST_RETENTION_DAYS]
    if not short:
        return None
    deleted, log = found.values()
    settings = ", ".join(f"'{name}' = 'interval {wanted[name]} days'" for name in short)
    return Found({"deleted_file_days": deleted, "log_days": log}, {"retention": settings})


def clustering_debt(state: TableState, now: float) -> Found | None:  # noqa: ARG001
    if not state.clustering_columns or len(state.files) < limits.FEW_FILES:
        return None
    column = state.clustering_columns[0]
    ranges = [_range(each, column) for each in state.files]
    # Files without a range are read by every filter.
    known = [each for each in ranges if each is not None]
    try:
        lowest, highest = sorted(low for low, _ in known), sorted(high for _, high in known)
        depth = sum(bisect.bisect_right(lowest, low) - bisect.bisect_left(highest, low) for low, _ in known)
    except TypeError:
        return None
    per_value = depth / max(1, len(known)) + len(ranges) - len(known)
    if per_value < limits.OVERLAP_SHARE * len(ranges):
        return None
    column = state.logical_names.get(column, column)
    return Found({"column": column, "files": len(ranges), "files_per_value": round(per_value, 1)})


def checkpoint_overdue(state: TableState, now: float) -> Found | None:  # noqa: ARG001
    since = -1 if state.checkpoint is None else state.checkpoint
    commits = [each for each in state.log_files if each.version > since and each.name.endswith(".json")]
    if len(commits) < limits.COMMITS_WITHOUT_CHECKPOINT:
        return None
    return Found(
        {
            "commits": len(commits),
            "log_bytes": sum(each.size for each in commits),
            "interval": state.configuration.get("delta.checkpointInterval", "default"),
        }
    )


def log_cleanup_off(state: TableState, now: float) -> Found | None:
    days = _days(state, "delta.logRetentionDuration", 30)
    # Cleanup works by whole days, and deletes all files before a checkpoint or none of them: it stops at the
    # last checkpoint that no file within the retention precedes.
    fresh = [each.version for each in state.log_files if each.modified >= now - (days + 1) * _DAY]
    checkpoints = [each.version for each in state.log_files if ".checkpoint" in each.name]
    covered = max((each for each in checkpoints if each <= min(fresh, default=each)), default=-1)
    expired = [each for each in state.log_files if each.version < covered]
    if len(expired) < limits.EXPIRED_LOG_FILES:
        return None
    return Found({"log_files": len(state.log_files), "expired_log_files": len(expired), "log_days": days})


RULES: dict[str, Callable[[TableState, float], Found | None]] = {
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


def _group_by_partition(state: TableState) -> dict[Any, list[DataFile]]:
    found: dict[Any, list[DataFile]] = defaultdict(list)
    for each in state.files:
        found[each.partition].append(each)
    return found


def _merged(size: int) -> int:
    return max(1, math.ceil(size / limits.MERGED_FILE_BYTES))


def _skipping_columns(state: TableState) -> list[str]:
    """Return the top-level columns whose minimum and maximum a file's entry can have."""
    return [
        name
        for name, kind in state.columns
        if name not in state.partition_columns and isinstance(kind, str) and _SKIPPED_TYPES.fullmatch(kind)
    ]


def _range(file: DataFile, column: str) -> tuple[Any, Any] | None:
    low: Any = file.statistics.get("minValues")
    high: Any = file.statistics.get("maxValues")
    for part in column.split("."):
        low = low.get(part) if isinstance(low, Mapping) else None
        high = high.get(part) if isinstance(high, Mapping) else None
    return None if low is None or high is None else (low, high)


def _days(state: TableState, name: str, default: float) -> float:
    """Return an interval of the table's properties in days; the default where it cannot be read.

    The syntax is `interval 1 week`, `interval 2 days 12 hours`.
    """
    text = state.configuration.get(name, "").lower().removeprefix("interval").strip()
    parts = re.findall(r"(-?\d+(?:\.\d+)?)\s*([a-z]+?)s?\b", text)
    if not parts or any(unit not in _UNITS for _, unit in parts):
        return default
    return round(sum(float(number) * _UNITS[unit] for number, unit in parts) / _DAY, 3)
