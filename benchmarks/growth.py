"""`python -m benchmarks.growth`: how time and state of the sample lakehouse grow with people and days.

For each number of people the days are loaded in steps; after each step one more day is loaded. A line of JSON
for each step: rows of heart rates, seconds of the step and of the day, megabytes of tables and of state.
`--compare` adds seconds for gold after one more day, for all of gold again, and for all tables again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from benchmarks.cases.wearables import GOLD, Lakehouse
from benchmarks.memory import peak_memory

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a line after each step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--users", type=int, nargs="+", default=[100, 200, 400])
    parser.add_argument("--days", type=int, default=20, help="days of each number of people (default: 20)")
    parser.add_argument("--step", type=int, default=5, help="days that are loaded at once (default: 5)")
    parser.add_argument("--longest", type=int, default=600, help="longest workout in minutes (default: 600)")
    parser.add_argument("--heap", default="3g", help="heap of Spark (default: 3g)")
    parser.add_argument("--compare", action="store_true", help="compute gold, and then all tables, again")
    given = parser.parse_args(argv)
    for users in given.users:
        with tempfile.TemporaryDirectory(prefix="growth-") as folder, peak_memory() as memory:
            lakehouse = Lakehouse(
                Path(folder),
                users=users,
                days=given.days + given.days // given.step + 1,
                longest=given.longest,
                conf={"spark.driver.memory": given.heap},
            )
            grown = grow(lakehouse, given.days // given.step, given.step)
            for row in chain(grown, compare(lakehouse) if given.compare else ()):
                print(json.dumps({"users": users, **row, **memory()}), flush=True)
    return 0


def grow(lakehouse: Lakehouse, steps: int, step: int) -> Iterator[dict[str, float]]:
    """Load `steps` times `step` days, and yield figures after each."""
    for number in range(1, steps + 1):
        seconds = {
            "step_seconds": _seconds(lambda: lakehouse.next_days(step)),
            "day_seconds": _seconds(lambda: lakehouse.next_days(1)),
        }
        settings = lakehouse.settings
        checkpoints = [settings.pipelines, *settings.volumes.glob("*/*/checkpoints")]
        yield {
            "days": number * (step + 1),
            "heart_rates": lakehouse.spark.table(f"{lakehouse.schema}.heart_rate").count(),
            **seconds,
            "tables_mb": round(_megabytes(settings.warehouse), 1),
            "state_mb": round(sum(map(_megabytes, checkpoints)), 1),
        }


def compare(lakehouse: Lakehouse) -> Iterator[dict[str, float]]:
    """Load one more day, and yield the seconds of gold, of gold computed again, and of all tables again."""
    upstream = sorted(lakehouse.update() - {*GOLD})
    lakehouse.next_days(1, "land")
    lakehouse.update(refresh=upstream)
    yield {"gold_seconds": _seconds(lambda: lakehouse.update(refresh=GOLD))}
    yield {"gold_again_seconds": _seconds(lambda: lakehouse.update(full_refresh=GOLD, refresh=GOLD))}
    yield {"all_again_seconds": _seconds(lambda: lakehouse.run("backfill", confirmed="yes"))}


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return round(time.perf_counter() - began, 1)


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


if __name__ == "__main__":
    raise SystemExit(main())
