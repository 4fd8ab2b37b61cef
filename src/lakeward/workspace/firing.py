"""Jobs that start by themselves: their triggers are asked once a second, in a thread."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from lakeward.bundle import CronError, Timer, timers_of
from lakeward.session import PathMap, Settings
from lakeward.standins.local_workspace import Failure
from lakeward.workspace import run_states
from lakeward.workspace.store import Document, Store
from lakeward.workspace.triggers import Arrival, Continuous, Past, Periodic, Scheduled, Trigger
from lakeward.workspace.watched import files_below, versions

__all__ = ["Firing", "Start", "starts_of"]

_PAUSE = 1.0


@dataclass(frozen=True)
class Start:
    """How a job of the workspace starts by itself; `at` is the next time, where a clock decides."""

    job: str
    when: str
    paused: bool
    at: datetime | None


def starts_of(store: Store, now: datetime) -> tuple[Start, ...]:
    """The triggers and schedules of all jobs."""
    return tuple(
        Start(str(job["settings"].get("name")), str(timer), timer.paused, _next(timer, now))
        for job in store.find("job")
        for timer in timers_of(job["settings"])
    )


def _next(timer: Timer, now: datetime) -> datetime | None:
    try:
        return next(iter(timer.next_times(now, 1)), None)
    except CronError:
        return None


class Firing:
    """`fire` starts a run of a job, for a cause; `note` hears of a trigger that cannot be read."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        fire: Callable[[Document, str], None],
        note: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._settings, self._fire, self._note = store, settings, fire, note
        self._clock = clock
        self._triggers: dict[tuple[int, str], Trigger | None] = {}
        self._stop = threading.Event()

    def start(self) -> None:
        """Ask in a thread from now on."""
        threading.Thread(target=self._run, name="triggers", daemon=True).start()

    def close(self) -> None:
        """Ask no more."""
        self._stop.set()

    def tick(self) -> None:
        """Ask every trigger once. One whose settings have changed begins anew."""
        now = self._clock()
        known, self._triggers = self._triggers, {}
        for job in self._store.find("job"):
            for timer in timers_of(job["settings"]):
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
        except Failure as failure:
            self._note(f"The job {job['job_id']} could not be started: {failure}")

    def _made(self, job: Document, timer: Timer, now: float) -> Trigger | None:
        settings = timer.settings
        try:
            if timer.kind == "schedule":
                return Scheduled(timer, now)
            if timer.kind == "periodic":
                return Periodic(settings, now)
            if timer.kind == "file_arrival":
                folder = Path(PathMap.of(self._settings).local(str(settings.get("url") or "")))
                return Arrival("FILE_ARRIVAL", settings, partial(files_below, folder))
            if timer.kind == "table_update":
                names = frozenset(str(name).lower() for name in settings.get("table_names") or ())
                return Arrival("TABLE", settings, partial(versions, self._settings.warehouse, names), names)
            return Continuous(partial(_past, self._store, job["job_id"]))
        except (CronError, KeyError, ValueError) as error:
            self._note(f"The trigger of the job {job['job_id']} cannot be read: {error}")
            return None


def _past(store: Store, job_id: int) -> Past:
    runs = store.find("run", parent=job_id, newest_first=True, limit=20)
    failures = 0
    for run in runs:
        if run["state"].get("result_state") not in ("FAILED", "TIMEDOUT"):
            break
        failures += 1
    ended = max((run["end_time"] for run in runs), default=0) / 1000
    return Past(any(run_states.is_active(run) for run in runs), ended, failures)
