"""Retention: removal of old runs and statements, with the platform's periods."""

from __future__ import annotations

import shutil
from pathlib import Path

from lakeward.workspace.state.store import Store

_QUERY_HISTORY_DAYS = 30
_DAY = 24 * 3600 * 1000
_LIKE_RUNS = ("run", "task_run", "idempotency", "update", "event")


def remove_expired(store: Store, runs: Path, jobs: Path, now: int) -> None:
    """Forget what ended long before `now`; `runs` are the logs, `jobs` what repairs would have needed."""
    from lakeward.jobs import RETENTION_DAYS

    for kind, days in (*((kind, RETENTION_DAYS) for kind in _LIKE_RUNS), ("statement", _QUERY_HISTORY_DAYS)):
        for key in store.delete_older(kind, now - days * _DAY):
            if kind in ("run", "update") and Path(key).name == key:
                shutil.rmtree(runs / key, ignore_errors=True)
            if kind == "run" and key.isdecimal():
                for place in jobs.glob(f"*-{key}"):
                    shutil.rmtree(place, ignore_errors=True)
                for lock in jobs.glob(f"*-{key}.lock"):
                    lock.unlink(missing_ok=True)
