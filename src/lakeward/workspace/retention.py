"""What the server forgets when it starts: runs as the platform does, and results of statements."""

from __future__ import annotations

import shutil
from pathlib import Path

from lakeward.workspace.store import Store

__all__ = ["forget_old"]

_DAY = 24 * 3600 * 1000
_LIKE_RUNS = ("run", "task_run", "idempotency", "update", "event")


def forget_old(store: Store, runs: Path, jobs: Path, now: int) -> None:
    """Forget what ended long before `now`; `runs` are the logs, `jobs` what repairs would have needed."""
    from lakeward.jobs import KEPT_DAYS

    for kind, days in (*((kind, KEPT_DAYS) for kind in _LIKE_RUNS), ("statement", 1)):
        for key in store.delete_older(kind, now - days * _DAY):
            if kind in ("run", "update") and Path(key).name == key:
                shutil.rmtree(runs / key, ignore_errors=True)
            if kind == "run" and key.isdecimal():
                for place in jobs.glob(f"*-{key}"):
                    shutil.rmtree(place, ignore_errors=True)
                for lock in jobs.glob(f"*-{key}.lock"):
                    lock.unlink(missing_ok=True)
