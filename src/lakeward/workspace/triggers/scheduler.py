"""Scheduler of jobs: a thread evaluates their schedules and triggers once a second."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.databricks_shims.local_workspace import ApiError, ApiRequest, check_inside
from lakeward.dbutils import Environment
from lakeward.session import PathMap, Settings
from lakeward.workspace.runs import run_state
from lakeward.workspace.state.store import Document, Store
from lakeward.workspace.triggers.triggers import (
    Arrival,
    Continuous,
    Periodic,
    RecentRuns,
    Scheduled,
    Trigger,
    files_below,
    versions,
)

if TYPE_CHECKING:
    from lakeward.bundle import Timer

_STARTS = ("schedule", "trigger", "continuous")
_SUCCESSES = ("SUCCESS", "SUCCESS_WITH_FAILURES")
_PAUSE = 1.0
# A clock that is set back by more is followed. By less, nothing starts twice, and schedules are late by that.
_CLOCK_TOLERANCE = 60.0
_Key = tuple[int, str]


@dataclass(frozen=True)
class ScheduledStart:
    """How a job of the workspace starts by itself; `at` is the next time, where a clock decides."""

    job: str
    when: str
    paused: bool
    at: datetime | None


# What a record can raise whose types are not those of the API: an older version did not check them.
_MALFORMED = (AttributeError, KeyError, TypeError, ValueError, ApiError)


def scheduled_starts(
    store: Store, now: datetime, warn: Callable[[str], None] = lambda _: None
) -> tuple[ScheduledStart, ...]:
    """Return the triggers and schedules of all jobs; a job whose record is malformed is named to `warn`."""
    found: list[ScheduledStart] = []
    for job in store.find("job"):
        try:
            found += [
                ScheduledStart(str(job["settings"].get("name")), str(timer), timer.paused, _next(timer, now))
                for timer in _timers(job)
            ]
        except _MALFORMED as error:
            warn(
                f"The schedule or trigger of job {job.get('job_id')} cannot be read and never fires: {error}"
            )
    return tuple(found)


def _timers(job: Document) -> Iterable[Timer]:
    if all(job["settings"].get(name) is None for name in _STARTS):
        return ()
    # Imported here: the package costs a quarter of a second at the start of the server.
    from lakeward.bundle import timers_of

    return timers_of(job["settings"])


def _next(timer: Timer, now: datetime) -> datetime | None:
    from lakeward.quartz_cron import CronError

    try:
        return next(iter(timer.next_times(now, 1)), None)
    except (CronError, OverflowError):
        return None


class TriggerScheduler:
    """Fires the triggers of jobs, or of what `find` yields in their form.

    `fire` starts a run of a job, for a cause; `note` receives triggers that cannot be read.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        fire: Callable[[Document, str], None],
        note: Callable[[str], None],
        *,
        find: Callable[[Store], Iterable[Document]] = lambda store: store.find("job"),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._find = find
        self._store, self._settings, self._fire, self._note = store, settings, fire, note
        self._clock, self._last = clock, clock()
        self._triggers: dict[_Key, Trigger | None] = {}
        self._stop = threading.Event()
        self._noted: set[str] = set()

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="triggers", daemon=True).start()

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()

    def tick(self) -> None:
        """Check every trigger once. One whose settings have changed is set up again.

        A job that fails is reported and does not keep the others from firing.
        """
        now = self._clock()
        back, self._last = self._last - now, now
        if back > _CLOCK_TOLERANCE:
            for trigger in filter(None, self._triggers.values()):
                trigger.set_back(now, back)
        known, self._triggers = self._triggers, {}
        for job in self._find(self._store):
            try:
                self._check(job, known, now)
            except Exception as error:  # noqa: BLE001  # of one job
                text = f"The triggers of job {job.get('job_id')} failed: {type(error).__name__}: {error}"
                if text not in self._noted:
                    self._noted.add(text)
                    self._note(text)

    def _check(self, job: Document, known: Mapping[_Key, Trigger | None], now: float) -> None:
        for timer in _timers(job):
            if timer.paused:
                continue
            key = (job["job_id"], json.dumps([timer.kind, dict(timer.settings)], sort_keys=True))
            trigger = known[key] if key in known else self._made(job, timer, now)
            self._triggers[key] = trigger
            if trigger is not None and trigger.due(now):
                self._started(job, trigger.cause)

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self.tick()
            except Exception as error:  # noqa: BLE001  # one bad look must not end all schedules
                self._note(f"{type(error).__name__}: {error}")
            # Folders with very many files: looking at them takes a tenth of the time at most.
            self._stop.wait(max(_PAUSE, 9 * (time.monotonic() - began)))

    def _started(self, job: Document, cause: str) -> None:
        try:
            self._fire(job, cause)
        except ApiError as failure:
            self._note(f"The job {job['job_id']} could not be started: {failure}")

    def _made(self, job: Document, timer: Timer, now: float) -> Trigger | None:
        settings = timer.settings
        try:
            if timer.kind == "schedule":
                return Scheduled(timer, now)
            if timer.kind == "periodic":
                return Periodic(settings, now)
            if timer.kind == "file_arrival":
                folder = self._watched(str(settings.get("url") or ""))
                return Arrival("FILE_ARRIVAL", settings, partial(files_below, folder))
            if timer.kind == "table_update":
                names = frozenset(str(name).lower() for name in settings.get("table_names") or ())
                return Arrival("TABLE", settings, partial(versions, self._settings.warehouse, names), names)
            if timer.kind == "job_completion":
                jobs = frozenset(str(each["job_id"]) for each in settings["jobs"])
                status = str(settings.get("if_status") or "SUCCESS")
                look = partial(_completions, self._store, jobs, status)
                return Arrival("JOB_COMPLETION", {"condition": "ALL_UPDATED"}, look, jobs)
            return Continuous(partial(_past, self._store, job["job_id"], self._clock))
        except _MALFORMED as error:
            self._note(f"The trigger of the job {job['job_id']} cannot be read: {error}")
            return None

    def _watched(self, url: str) -> Path:
        """Return the folder of a file arrival trigger. Raises ApiError for one outside of the workspace."""
        folder = Path(PathMap.of(self._settings).local(url))
        # A folder such as `/Volumes/../..` is the whole disk, and would be read at every tick.
        check_inside(ApiRequest(Environment(settings=lambda: self._settings)), folder, url)
        return folder


def _completions(store: Store, jobs: Iterable[str], status: str) -> dict[str, object]:
    """Return the newest run of each job that ended with a status, and its end; a repaired run ends again."""
    found: dict[str, object] = {}
    for job in jobs:
        for run in _newest_runs(store, int(job)):
            if run_state.is_active(run):
                continue
            succeeded = run["state"].get("result_state") in _SUCCESSES
            if status == "DONE" or succeeded == (status == "SUCCESS"):
                found[job] = (run["run_id"], run["end_time"])
                break
    return found


def _past(store: Store, job_id: int, clock: Callable[[], float]) -> RecentRuns:
    runs = _newest_runs(store, job_id)
    failures = 0
    for run in runs:
        if run["state"].get("result_state") not in ("FAILED", "TIMEDOUT"):
            break
        failures += 1
    # A run that ended in the future ended before the clock was set back.
    latest = clock() + _CLOCK_TOLERANCE
    ended = max((at for run in runs if (at := run["end_time"] / 1000) <= latest), default=0.0)
    return RecentRuns(any(run_state.is_active(run) for run in runs), ended, failures)


def _newest_runs(store: Store, job_id: int) -> Sequence[Document]:
    return store.find("run", parent=job_id, newest_first=True, limit=20)
