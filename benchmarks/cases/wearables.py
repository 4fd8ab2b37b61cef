"""The sample lakehouse of this repository: one more day against all days again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.registry import Sides, case

USERS = int(os.environ.get("LAKEWARD_WEARABLES_USERS", "2000"))
DAYS = int(os.environ.get("LAKEWARD_WEARABLES_DAYS", "60"))
_ROOT = Path(__file__).resolve().parents[2]


@case("wearables.daily_increment", goal=0.15)
@contextmanager
def daily_increment(folder: Path) -> Iterator[Sides]:
    """The daily job with the next day, against the job that computes all tables of all days again."""
    from fixtures.generate import generate

    from lakeward import jobs
    from lakeward.bundle import load
    from lakeward.session import Settings

    generate(folder / "source", users=USERS, days=DAYS + 10, seed=7, longest=60)
    bundle = load(_ROOT, "dev", {}, user="ann", environ={})
    settings = Settings.here(folder / "lakehouse", environ={}, target="dev")

    def run(key: str, **parameters: str) -> None:
        done = jobs.run(bundle, key, settings=settings, options=jobs.RunOptions(parameters=parameters))
        failed = [(task.task_key, task.error) for task in done.tasks if task.state != "SUCCESS"]
        if failed:
            raise RuntimeError(f"{key}: {failed}")

    def next_days(count: int) -> None:
        run("daily", source=str(folder / "source"), days=str(count))

    next_days(DAYS)
    yield Sides(lambda: next_days(1), lambda: run("backfill", confirmed="yes"))
