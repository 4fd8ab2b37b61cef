"""Estimates what each technique reads and writes, in bytes of files, and how long that takes.

The commit of an update records technique, cost and start. The seconds up to the commit are what a byte of
the technique's cost took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.refresh_plan import MaintenanceType, RefreshPlan

if TYPE_CHECKING:
    from lakeward.pipelines.storage.delta_tables import DeltaCommit
_KEY = "lakeward.refresh"
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
    if technique == "PARTITION_OVERWRITE":
        # Every changed file may belong to partitions of its own; all groups of a partition are computed.
        share = changed / max(total, changed, 1.0)
        return total + changed + share * (view_bytes + total) + rescanned
    if technique in ("GENERIC_AGGREGATE", "WINDOW_FUNCTION"):
        return total + changed + view_bytes + rescanned
    joined = float(sum(change.total for change in changes if change.kind == "NO_CHANGE"))
    if technique == "ROW_BASED":
        changed += rescanned
    return joined + changed + (0 if technique == "APPEND_ONLY" else view_bytes)


def add_start(metadata: str, plan: RefreshPlan, seconds: float) -> str:
    """Return the user metadata of a commit with the technique and the time at which it started."""
    cost = next((each.cost for each in plan.techniques if each.type == plan.chosen), None)
    return json.dumps({**json.loads(metadata), _KEY: [plan.chosen, cost, seconds]})


def expected_seconds(
    technique: MaintenanceType, cost: float | None, commits: Iterable[DeltaCommit]
) -> float | None:
    """Return how long a technique will take, None if none of these commits used it."""
    rates = []
    for commit in commits:
        try:
            used, paid, started = json.loads(commit.user_metadata or "{}")[_KEY]
        except (ValueError, KeyError, TypeError):
            continue
        if used == technique and paid:
            rates.append((commit.info["timestamp"] / 1000 - started) / paid)
    return median(rates) * (cost or 0.0) if rates else None
