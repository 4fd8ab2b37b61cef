"""Runs a job, from its definition to the result of each task, and stores what its report shows."""

from __future__ import annotations

import json
import logging
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, TextIO

from lakeward.bundle import Bundle
from lakeward.jobs.concurrency import FileSemaphore, RunSemaphore, max_parallel_tasks, run_lock
from lakeward.jobs.definition import ALERT_OUTPUT, NOTEBOOK_EXIT
from lakeward.jobs.dynamic_values import MANUAL, RunTrigger
from lakeward.jobs.job_run import PlannedJobRun, TaskLauncher
from lakeward.jobs.pipelines import ensure_schemas_and_volumes
from lakeward.jobs.run_history import PreviousRun, delete_old_runs, load_previous_run, save_progress, save_run
from lakeward.jobs.run_loop import RunLoop
from lakeward.jobs.run_records import run_progress, task_records
from lakeward.jobs.run_results import JobRun, PipelineSelection, RunEvent
from lakeward.jobs.task_process import PrestartedWorker
from lakeward.jobs.wheels import unpack_wheels
from lakeward.private_folders import private_folder
from lakeward.run_files import run_folder

if TYPE_CHECKING:
    from lakeward.pipelines import Progress
    from lakeward.session import Settings

_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run.

    Args:
        parameters: Values of job parameters, in place of their defaults.
        only: Keys of the tasks to run, as `--only`; all others are EXCLUDED. Empty: all tasks.
        exclude: Keys of tasks that are EXCLUDED, as `--exclude`.
        selection: The datasets that its pipelines refresh. A dry run analyzes pipelines and checks everything
            else.
        isolated: Run each task in its own process, from built wheels, in parallel, with its log in the state
            folder and its timeout enforced. Otherwise tasks run sequentially in this process, from the
            sources, without timeouts, where a debugger can be attached.
        repair: Id of an earlier run, or `last`: run its unsuccessful tasks again, or those of `only`, with
            its parameters and task values.
        run_id: The id of the run; default: a new one.
        trigger: The trigger of the run.
        workers: Processes that are ready for tasks.
        provision: Creates schemas and volumes before the first task runs.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    only: Sequence[str] = ()
    exclude: Sequence[str] = ()
    selection: PipelineSelection = field(default_factory=PipelineSelection)
    isolated: bool = False
    repair: str | None = None
    run_id: str | None = None
    trigger: RunTrigger = MANUAL
    workers: Sequence[PrestartedWorker] = ()
    provision: Callable[[Bundle, Settings], None] = ensure_schemas_and_volumes


@dataclass(frozen=True, kw_only=True)
class RunListeners:
    """Receivers of what happens during a run.

    Args:
        stdout: The stream for output of tasks; default: this process's.
        on_output: Receives output of tasks in processes, with the task's key; default: writes to `stdout`.
        on_event: Receives TaskProgress, and Progress of pipelines.
        on_update: Receives Progress of pipelines in processes, with the keys of task and pipeline.
    """

    stdout: TextIO | None = None
    on_output: Callable[[str, str], None] | None = None
    on_event: Callable[[RunEvent], None] | None = None
    on_update: Callable[[str, str, Progress], None] = lambda *_: None


def run(
    bundle: Bundle,
    key: str,
    *,
    settings: Settings,
    options: RunOptions | None = None,
    listeners: RunListeners | None = None,
) -> JobRun:
    """Run the job `key` of `bundle` and return the result of each task.

    The whole definition is checked before the first task runs. A task that fails never raises: its result
    has the error.

    Args:
        bundle: The bundle with the job.
        key: The key of the job in it.
        settings: The lakehouse to run on.
        options: What to run; default: all tasks in this process.
        listeners: Receivers of output and progress.

    Raises:
        ConfigurationError: The definition is invalid.
        JobError: RUN_ACTIVE when `max_concurrent_runs` others are active and the job does not queue.
    """
    options, listeners = options or RunOptions(), listeners or RunListeners()
    previous = _previous_run(settings, key, options)
    run_id = previous.run_id if previous else options.run_id or str(uuid.uuid4().int % 10**15)
    folder = run_folder(settings.jobs, key, run_id)
    launcher = _launcher(bundle, settings, options, listeners)
    launcher.isolated_in = folder if options.isolated else None
    planned = launcher.plan(
        key,
        {**(previous.parameters if previous else {}), **options.parameters},
        run_id=run_id,
        only=options.only,
        exclude=options.exclude,
        past=previous,
    )
    private_folder(settings.state)
    begin = time.monotonic()

    def record(loop: RunLoop) -> None:
        progress = run_progress(
            loop.state,
            loop.results(),
            bundle,
            started=launcher.started,
            seconds=time.monotonic() - begin,
            parameters=planned.parameters,
        )
        # The report alone needs it.
        with suppress(OSError):
            save_progress(folder, progress)

    with ExitStack() as stack:
        stack.enter_context(_run_slot(bundle, key, settings))
        stack.callback(launcher.close)
        if planned.has_work:
            if not options.selection.dry_run:
                _prepare_tasks(planned, launcher, stack)
            options.provision(bundle, settings)
        loop = planned.run_loop(time.monotonic(), None if options.selection.dry_run else record)
        _execute(loop)
    result = JobRun(
        run_id, loop.state.result, loop.results(), time.monotonic() - begin, _exits(planned.values)
    )
    if not options.selection.dry_run:
        ended = {task: each.end for task, each in loop.state.states.items() if each.end is not None}
        repairs = previous.repairs + 1 if previous else 0
        kept = PreviousRun(run_id, planned.parameters, planned.values, ended, repairs)
        records = task_records(loop.state, bundle)
        save_run(settings.jobs, key, result, kept, started=launcher.started, records=records)
        delete_old_runs(settings.jobs, key)
    return result


def _prepare_tasks(planned: PlannedJobRun, launcher: TaskLauncher, stack: ExitStack) -> None:
    """Install the packages of the tasks; of isolated ones start the workers and unpack the wheels, too."""
    planned.install()
    if launcher.isolated_in is not None:
        launcher.prestart(planned.processes)
        wheels = launcher.isolated_in / "wheels"
        stack.callback(shutil.rmtree, wheels, ignore_errors=True)
        launcher.wheels = unpack_wheels(launcher.bundle, wheels)


def _exits(values: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Return the results of notebooks and alerts by task."""
    return {
        task: str(json.loads(text))
        for (task, name), text in values.items()
        if name in (NOTEBOOK_EXIT, ALERT_OUTPUT)
    }


def _run_slot(bundle: Bundle, key: str, settings: Settings) -> AbstractContextManager[None]:
    """Hold one of the places that `max_concurrent_runs` of the job allows."""
    job = bundle.job(key)
    return run_lock(
        settings.jobs,
        key,
        f"The job {key} of target {bundle.target}",
        limit=int(job.get("max_concurrent_runs") or 1),
        queue=(job.get("queue") or {}).get("enabled") is True,
        on_wait=_log.warning,
    )


def _previous_run(settings: Settings, key: str, options: RunOptions) -> PreviousRun | None:
    if not options.repair:
        return None
    return load_previous_run(settings.jobs, key, options.repair).without(options.only)


def _launcher(
    bundle: Bundle, settings: Settings, options: RunOptions, listeners: RunListeners
) -> TaskLauncher:
    limit = max_parallel_tasks() if options.isolated else 1
    return TaskLauncher(
        bundle,
        settings,
        selection=options.selection,
        stdout=listeners.stdout,
        on_output=listeners.on_output or partial(_print, listeners.stdout),
        on_event=listeners.on_event or (lambda _: None),
        on_update=listeners.on_update,
        started=datetime.now(timezone.utc),
        limit=limit,
        trigger=options.trigger,
        semaphore=RunSemaphore(FileSemaphore(settings.jobs / ".slots", limit)) if options.isolated else None,
        workers=list(options.workers),
    )


def _execute(loop: RunLoop) -> None:
    try:
        while not loop.state.is_done:
            if not loop.tick():
                time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        loop.cancel("Interrupted.")


def _print(stdout: TextIO | None, _task: str, text: str) -> None:
    print(text, end="", flush=True, file=stdout)
