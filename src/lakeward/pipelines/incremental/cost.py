"""Estimates what each technique reads and writes, in bytes of files."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.refresh_plan import MaintenanceType

# A recomputation joins, groups and writes every row that it reads; other techniques filter most of them.
_RECOMPUTED = 3.0


def estimate(
    technique: MaintenanceType, changes: Sequence[ChangeSet], view_bytes: int, rescanned: float = 0.0
) -> float:
    """Return the cost of a technique for these changes and a view of this size.

    `rescanned` are the bytes that aggregates without GROUP BY read to compute their row now and before.
    """
    total = float(sum(change.total for change in changes))
    if technique == "NO_OP":
        return 0.0
    if technique == "COMPLETE_RECOMPUTE":
        return _RECOMPUTED * total + view_bytes
    changed = float(sum(change.bytes for change in changes if change.kind != "NO_CHANGE"))
    if technique in ("GENERIC_AGGREGATE", "WINDOW_FUNCTION"):
        return total + changed + view_bytes + rescanned
    joined = float(sum(change.total for change in changes if change.kind == "NO_CHANGE"))
    if technique == "ROW_BASED":
        changed += rescanned
    return joined + changed + (0 if technique == "APPEND_ONLY" else view_bytes)
