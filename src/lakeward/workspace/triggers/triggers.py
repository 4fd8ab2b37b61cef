"""Triggers of jobs: decisions from the clock and from the state of what they watch.

Sources: https://docs.databricks.com/aws/en/jobs/triggers and its siblings on schedules, file arrival, table
updates and continuous jobs; how long a continuous job waits after a failure is assumed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lakeward.bundle import Timer


_BETWEEN = 10.0  # seconds between two runs that a schedule starts, whatever its expression says
_SECONDS = {"MINUTES": 60, "HOURS": 3600, "DAYS": 24 * 3600, "WEEKS": 7 * 24 * 3600}
_FIRST_WAIT, _LONGEST_WAIT = 10.0, 3600.0


class Trigger(Protocol):
    """Decides at each tick whether a run is due; `cause` is the trigger type of the API."""

    @property
    def cause(self) -> str:
        """Return the trigger that its runs report."""
        ...

    def due(self, now: float) -> bool:
        """Return whether a run starts now."""
        ...

    def set_back(self, now: float, seconds: float, /) -> None:
        """Continue after the clock was set back to `now` by `seconds`."""
        ...


class Scheduled:
    """A cron expression in its time zone. Missed schedules fire once."""

    cause = "PERIODIC"

    def __init__(self, timer: Timer, now: float) -> None:
        self._timer = timer
        self._next = self._after(now)

    def due(self, now: float) -> bool:
        """Return whether a time of the schedule has come since the last one."""
        if self._next is None or now < self._next:
            return False
        self._next = self._after(max(now, self._next + _BETWEEN - 1))
        return True

    def set_back(self, now: float, _seconds: float, /) -> None:
        """Take the next time from `now` on."""
        self._next = self._after(now)

    def _after(self, now: float) -> float | None:
        times = self._timer.next_times(datetime.fromtimestamp(now, timezone.utc), 1)
        return times[0].timestamp() if times else None


class Periodic:
    """Every so many minutes, hours, days or weeks from the time that the trigger was first seen."""

    cause = "PERIODIC"

    def __init__(self, settings: Mapping[str, object], now: float) -> None:
        self._seconds = int(str(settings.get("interval") or 1)) * _SECONDS[str(settings.get("unit"))]
        self._next = now + self._seconds

    def due(self, now: float) -> bool:
        """Return whether the interval is over."""
        if now < self._next:
            return False
        self._next += self._seconds * (1 + (now - self._next) // self._seconds)
        return True

    def set_back(self, _now: float, seconds: float, /) -> None:
        """Keep the rest of the interval."""
        self._next -= seconds


class Arrival:
    """Files that arrive, or tables that change: `look` gives a mark by name, another one after a change.

    What is there at the first look does not count. With `condition: ALL_UPDATED` every one of `names` has to
    change.
    """

    def __init__(
        self,
        cause: str,
        settings: Mapping[str, object],
        look: Callable[[], Mapping[str, object]],
        names: frozenset[str] = frozenset(),
    ) -> None:
        self.cause = cause
        self._look = look
        self._names = names if settings.get("condition") == "ALL_UPDATED" else frozenset()
        self._between = float(str(settings.get("min_time_between_triggers_seconds") or 0))
        self._wait = float(str(settings.get("wait_after_last_change_seconds") or 0))
        self._before = self._latest = look()
        self._changed = 0.0
        self._fired = float("-inf")

    def due(self, now: float) -> bool:
        """Return whether anything is new, long enough ago, and the last run, too."""
        seen = self._look()
        if seen != self._latest:
            self._latest, self._changed = seen, now
        new = {name for name, mark in seen.items() if self._before.get(name) != mark}
        if not new or not self._names <= new:
            return False
        if now < max(self._changed + self._wait, self._fired + self._between):
            return False
        self._before, self._fired = seen, now
        return True

    def set_back(self, _now: float, seconds: float, /) -> None:
        """Keep the time since the last change and the last run."""
        self._changed -= seconds
        self._fired -= seconds


@dataclass(frozen=True)
class RecentRuns:
    """The runs of a job: whether one is active, when the last one ended, how many of the newest failed."""

    active: bool = False
    ended: float = 0.0
    failures: int = 0


class Continuous:
    """A run is always there; after failures in a row it waits longer each time."""

    cause = "CONTINUOUS"

    def __init__(self, past: Callable[[], RecentRuns]) -> None:
        self._past = past

    def due(self, now: float) -> bool:
        """Return whether there is no run, and the time to wait after failures is over."""
        past = self._past()
        wait = min(_FIRST_WAIT * 2 ** min(past.failures - 1, 20), _LONGEST_WAIT) if past.failures else 0.0
        return not past.active and now >= past.ended + wait

    def set_back(self, _now: float, _seconds: float, /) -> None:
        """Do nothing: the recent runs are read at each look."""


def files_below(folder: Path) -> dict[str, object]:
    """Return the files in a folder and those below it, each with its size and time."""
    found: dict[str, object] = {}
    for place, _, names in os.walk(folder):
        for file in (Path(place, name) for name in names):
            with suppress(OSError):
                status = file.stat()
                found[str(file)] = (status.st_size, status.st_mtime_ns)
    return found


def versions(warehouse: Path, names: Iterable[str]) -> dict[str, object]:
    """Return the newest commit of each Delta table that is there."""
    found: dict[str, object] = {}
    for name in names:
        commits = warehouse.joinpath(*name.split("."), "_delta_log").glob("*.json")
        newest = max((commit.name for commit in commits), default=None)
        if newest is not None:
            found[name] = newest
    return found
