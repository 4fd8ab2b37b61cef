"""A run of a job, from its definition to what became of each task."""

from __future__ import annotations

import json
import logging
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.bundle import Bundle
from lakeward.jobs.history import Past, folder_of, forget_old, load_past, save
from lakeward.jobs.launching import Launcher
from lakeward.jobs.locks import a_run
from lakeward.jobs.memory import limit
from lakeward.jobs.model import JobRun
from lakeward.jobs.pipelines import Selection
from lakeward.jobs.references import BY_HAND, Origin
from lakeward.jobs.room import Room
from lakeward.jobs.slots import Slots
from lakeward.jobs.surroundings import provide
from lakeward.jobs.tasks.notebook import EXIT
from lakeward.jobs.waiting import Waiting
from lakeward.jobs.wheels import unpacked

if TYPE_CHECKING:
    from lakeward.session import Settings

__all__ = ["run"]

_log = logging.getLogger(__name__)
_PAUSE = 0.02


def run(
    bundle: Bundle,
    key: str,
    *,
    settings: Settings,
    parameters: Mapping[str, str] = {},
    only: Sequence[str] = (),
    refresh: Sequence[str] = (),
    full_refresh: Sequence[str] = (),
    full_refresh_all: bool = False,
    reset_checkpoints: Sequence[str] = (),
    dry_run: bool = False,
    apart: bool = False,
    repair: str | None = None,
    run_id: str | None = None,
    origin: Origin = BY_HAND,
    ahead: Sequence[Waiting] = (),
    stdout: TextIO | None = None,
    show: Callable[[str, str], None] | None = None,
    on_event: Callable[[Any], None] | None = None,
    on_update: Callable[[str, str, Any], None] = lambda *_: None,
    surroundings: Callable[[Bundle, Settings], None] = provide,
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
) -> JobRun:
    """Run the job `key` of `bundle` and return what became of each task.

    `parameters` replace defaults of job parameters; `only` names the tasks to run (all others are EXCLUDED);
    the refresh flags go to its pipelines; a dry run plans pipelines and only checks everything else. What
    tasks print goes to `stdout`, or with the key of the task to `show` when they run apart; `on_event` hears
    TaskProgress, and Progress of pipelines; that of tasks in processes `on_update` hears, too, with the keys
    of task and pipeline. `surroundings` makes what tasks expect to exist. `repair` names a
    run (`last`: the newest) whose tasks that did not succeed, or those of `only`, are run again, with its
    parameters and task values. `run_id` is the run's own, if it has one already; `origin` says what started
    it; `ahead` are processes that wait for tasks already.

    With `apart` each task is a process of its own, from the built wheel, several at once, with its log in the
    state folder; timeouts end it. Otherwise tasks run in this process, one after the other, from the sources,
    and a debugger sees them; no timeout is enforced.

    Everything that can be wrong in the definition is found before the first task runs (ConfigurationError).
    A task that fails never raises: its result says why. JobError(RUN_ACTIVE) when `max_concurrent_runs`
    others are active and the job does not queue.
    """
    job = bundle.job(key)
    past = load_past(settings.jobs, key, repair).without(only) if repair else None
    run_id = past.run_id if past else run_id or str(uuid.uuid4().int % 10**15)
    tasks_at_once = limit() if apart else 1
    launcher = Launcher(
        bundle,
        settings,
        selection=Selection(
            tuple(refresh), tuple(full_refresh), full_refresh_all, dry_run, tuple(reset_checkpoints)
        ),
        stdout=stdout,
        show=show or partial(_print, stdout),
        on_event=on_event or (lambda _: None),
        on_update=on_update,
        started=now(),
        limit=tasks_at_once,
        logs=folder_of(settings.jobs, key, run_id) / "logs" if apart else None,
        origin=origin,
        room=Room(Slots(settings.jobs / ".slots", tasks_at_once)) if apart else None,
        ahead=list(ahead),
    )
    prepared = launcher.job(
        key,
        {**(past.parameters if past else {}), **parameters},
        run_id=run_id,
        only=only,
        past=past,
    )
    begin = time.monotonic()
    what = f"The job {key} of target {bundle.target}"
    most = int(job.get("max_concurrent_runs") or 1)
    queue = (job.get("queue") or {}).get("enabled") is True
    with ExitStack() as stack:
        stack.enter_context(a_run(settings.jobs, key, what, most=most, queue=queue, waiting=_log.warning))
        stack.callback(launcher.close)
        if prepared.has_work and not dry_run:
            if apart:
                launcher.start_ahead(prepared.processes)
                wheels = folder_of(settings.jobs, key, run_id) / "wheels"
                stack.callback(shutil.rmtree, wheels, ignore_errors=True)
                launcher.wheels = unpacked(bundle, wheels)
            surroundings(bundle, settings)
        elif prepared.has_work:
            surroundings(bundle, settings)
        drive = prepared.drive(time.monotonic())
        try:
            while not drive.schedule.over:
                if not drive.step():
                    time.sleep(_PAUSE)
        except KeyboardInterrupt:
            drive.cancel("Interrupted.")
    left = {task: str(json.loads(text)) for (task, name), text in prepared.values.items() if name == EXIT}
    result = JobRun(run_id, drive.schedule.state, drive.results(), time.monotonic() - begin, left)
    ended = {task: record.end for task, record in drive.schedule.records.items() if record.end is not None}
    repairs = past.repairs + 1 if past else 0
    if not dry_run:
        save(settings.jobs, key, result, Past(run_id, prepared.parameters, prepared.values, ended, repairs))
        forget_old(settings.jobs, key)
    return result


def _print(stdout: TextIO | None, _task: str, text: str) -> None:
    print(text, end="", flush=True, file=stdout)
