"""Planned runs of jobs: starts each task in a process, in this process, or as a nested run."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.bundle import Bundle
from lakeward.dbutils import known_secrets
from lakeward.errors import ConfigurationError, LakewardError
from lakeward.jobs.attempts import CompletedAttempt, attempt
from lakeward.jobs.concurrency import RunSemaphore
from lakeward.jobs.definition import Task, nested_task, parameter_values, select_tasks, sort_tasks, tasks_of
from lakeward.jobs.dynamic_values import (
    MANUAL,
    DynamicValueResolver,
    RunTrigger,
    job_references,
    resolve_references,
    resolved_parameters,
)
from lakeward.jobs.nested_runs import NestedRun, evaluate_condition, require_condition, start_loop
from lakeward.jobs.packages import layer_of_task
from lakeward.jobs.run_history import PreviousRun
from lakeward.jobs.run_loop import RunLoop, TaskAttempt
from lakeward.jobs.run_results import PipelineSelection, RunEvent, TaskProgress
from lakeward.jobs.task_graph import AttemptResult, TaskGraphState, TaskState
from lakeward.jobs.task_kinds import COMPOSITES, prepare
from lakeward.jobs.task_process import PrestartedWorker, TaskLog, TaskProcess, TaskRequest
from lakeward.jobs.tasks.user_code import Context
from lakeward.run_files import task_log
from lakeward.session import dbfs_paths
from lakeward.suggestions import unknown_name_hint

if TYPE_CHECKING:
    from lakeward.environments import Layer, Layers
    from lakeward.pipelines import Progress
    from lakeward.session import GatewayServer, Settings


_log = logging.getLogger(__name__)

_MAX_NESTED_JOBS = 10


def _layers() -> Layers:
    from lakeward.environments import Layers

    return Layers(say=_log.warning)


@dataclass
class TaskLauncher:
    """Starts the tasks of a run and of its nested runs.

    `on_output` receives output of processes with the key of the outermost task, `on_update` progress of their
    pipelines with that key and the pipeline's. `isolated_in` is the folder of a run with a process for each
    task; without one tasks run in this process.
    """

    bundle: Bundle
    settings: Settings
    selection: PipelineSelection
    stdout: TextIO | None
    on_output: Callable[[str, str], None]
    on_event: Callable[[RunEvent], None]
    on_update: Callable[[str, str, Progress], None]
    started: datetime
    limit: int
    trigger: RunTrigger = MANUAL
    semaphore: RunSemaphore | None = None
    wheels: Mapping[str, Path] = field(default_factory=dict)
    layers: Layers = field(default_factory=_layers)
    workers: list[PrestartedWorker] = field(default_factory=list)
    isolated_in: Path | None = None
    _expected: int = 0
    _scopes: ExitStack = field(default_factory=ExitStack)
    _lending: threading.Lock = field(default_factory=threading.Lock)
    _is_lent: bool = False

    def plan(
        self,
        key: str,
        parameters: Mapping[str, str],
        *,
        run_id: str,
        only: Sequence[str] = (),
        exclude: Sequence[str] = (),
        past: PreviousRun | None = None,
        parents: Sequence[str] = (),
    ) -> PlannedJobRun:
        """Return a run of the job `key`, checked as far as can be before it starts (ConfigurationError)."""
        job = self.bundle.job(key)
        tasks = sort_tasks(key, tasks_of(key, job))
        chosen = select_tasks(key, tasks, only, exclude)
        known = job_references(
            parameter_values(key, job, parameters),
            job_id=self.bundle.id_of("jobs", key),
            job_name=str(job.get("name") or key),
            run_id=run_id,
            started=self.started,
            trigger=replace(self.trigger, kind="run_job_task", task_runs={}) if parents else self.trigger,
            repairs=past.repairs + 1 if past else 0,
        )
        ended = {
            task.key: AttemptResult("EXCLUDED") for task in tasks if task.key not in chosen or task.disabled
        }
        ended |= {task: end for task, end in (past.completed if past else {}).items() if task in chosen}
        values = dict(past.values) if past else {}
        planned = PlannedJobRun(
            self, key, job, tasks, resolved_parameters(known), known, ended, values, parents
        )
        planned.check()
        return planned

    def prestart(self, number: int) -> None:
        """Prestart workers for `number` tasks, at most as many as run at once."""
        self._expected = number
        while len(self.workers) < min(self._expected, self.limit):
            self.workers.append(PrestartedWorker())

    def take_worker(self, layer: Layer | None) -> PrestartedWorker:
        """Return a worker for a task and prestart the next one.

        A task with packages of its own gets a new worker on its `layer`.
        """
        if layer is not None:
            return PrestartedWorker(layer.python, layer.environ())
        waiting = self.workers.pop(0) if self.workers else PrestartedWorker()
        self.prestart(max(0, self._expected - 1))
        return waiting

    def lend(self) -> GatewayServer | None:
        """Open this process's JVM for a task; None if no JVM can be started.

        Paths without a scheme are DBFS paths in the JVM from then on, as they are for all tasks.
        """
        from lakeward.session import GatewayServer, session

        with self._lending:
            if not self._is_lent:
                self._scopes.enter_context(dbfs_paths())
                self._is_lent = True
        try:
            return GatewayServer(session(self.settings), f"lakeward-{uuid.uuid4().hex}")
        except LakewardError:
            return None

    def close(self) -> None:
        """End unused workers."""
        self._scopes.close()
        while self.workers:
            self.workers.pop().dismiss()
        if self.semaphore is not None:
            self.semaphore.close()

    def has_capacity(self, task: Task) -> bool:
        """Return whether `task` may start now; only tasks in their own process take a slot."""
        return self.semaphore is None or task.kind in COMPOSITES or self.semaphore.reserve()


@dataclass
class PlannedJobRun:
    """A run of one job that has not begun: its tasks in order, and what is known before any has run.

    `parents` are the tasks of other runs around it, the outermost first.
    """

    launcher: TaskLauncher
    key: str
    job: Mapping[str, Any]
    tasks: Sequence[Task]
    parameters: Mapping[str, str]
    known: Mapping[str, str]
    ended: dict[str, AttemptResult]
    values: dict[tuple[str, str], str]
    parents: Sequence[str]
    _run_loop: RunLoop | None = None
    _resolver: DynamicValueResolver = field(init=False)

    def __post_init__(self) -> None:
        # The ids of the trigger are those of the outermost run.
        task_runs = {} if self.parents else self.launcher.trigger.task_runs
        self._resolver = DynamicValueResolver(
            self.known, self.tasks, self.values, task_runs, self._task_states
        )

    def _task_states(self) -> Mapping[str, TaskState]:
        return self._run_loop.state.states if self._run_loop else {}

    @property
    def processes(self) -> int:
        """Return the number of tasks that need a worker on lakeward's own environment."""
        return sum(
            task.kind not in COMPOSITES and self.layer_of(task) is None
            for task in self.tasks
            if task.key not in self.ended
        )

    def layer_of(self, task: Task) -> Layer | None:
        """Return the environment layer of `task`, built if missing.

        Raises ConfigurationError and SetupError for packages that cannot be installed.
        """
        launcher = self.launcher
        if task.kind in COMPOSITES:
            return None
        return layer_of_task(launcher.layers, launcher.bundle, self.job, task, launcher.settings)

    def install(self) -> None:
        """Build the environment layers of all tasks before the first one starts."""
        for task in self.tasks:
            if task.key not in self.ended:
                self.layer_of(nested_task(self.key, task) if task.kind == "for_each_task" else task)

    @property
    def has_work(self) -> bool:
        """Return whether a task is left to run."""
        return len(self.ended) < len(self.tasks)

    def check(self) -> None:
        """Raise ConfigurationError for an invalid task; end those that a dry run only checks."""
        for task in self.tasks:
            if task.key not in self.ended and self._check_task(task) is False:
                # The tasks of another job are not checked.
                self.ended[task.key] = AttemptResult("EXCLUDED" if task.kind == "run_job_task" else "CHECKED")

    def _check_task(self, task: Task) -> bool:
        filled = self._resolver.resolve(task, late=True)
        dry = self.launcher.selection.dry_run
        if task.kind == "condition_task":
            require_condition(task.key, filled.spec)
        elif task.kind == "for_each_task":
            self._check_task(nested_task(self.key, filled))
        elif task.kind == "run_job_task":
            self._job_of(filled)
        else:
            return prepare(self._context(), filled) is not None
        return not dry

    def run_loop(self, began: float, record: Callable[[RunLoop], None] | None = None) -> RunLoop:
        """Return the loop that executes this run; `record` receives it after each change."""
        launcher = self.launcher
        state = TaskGraphState.of(
            self.tasks,
            ended=self.ended,
            limit=launcher.limit,
            timeout=float(self.job.get("timeout_seconds") or 0) if launcher.isolated_in else 0.0,
            began=began,
        )

        def report(progress: TaskProgress) -> None:
            if not self.parents:
                launcher.on_event(progress)
            if record is not None and self._run_loop is not None:
                record(self._run_loop)

        self._run_loop = RunLoop(
            state, self.launch, clock=time.monotonic, report=report, has_capacity=launcher.has_capacity
        )
        return self._run_loop

    def launch(self, task: Task, number: int) -> TaskAttempt:
        """Start an attempt at `task`. Raises ConfigurationError when one of its references has no value."""
        filled = self._resolver.resolve(task, number=number, late=task.kind == "for_each_task")
        if task.kind == "condition_task":
            return CompletedAttempt(
                AttemptResult("SUCCESS", outcome=str(evaluate_condition(task.key, filled.spec)).lower())
            )
        if task.kind == "for_each_task":
            where = f"the loop `{task.key}`"
            inputs = resolve_references(task.spec.get("inputs"), self._resolver.references(), where=where)
            whole = replace(filled, spec={**filled.spec, "inputs": inputs})
            return start_loop(
                whole,
                self.launch,
                job_key=self.key,
                clock=time.monotonic,
                has_capacity=self.launcher.has_capacity,
            )
        if task.kind == "run_job_task":
            return self._start_nested(filled)
        if self.launcher.isolated_in is not None:
            return self._start_process(filled, number)
        from lakeward.environments import active

        action = prepare(self._context(), filled)
        if action is None:
            return CompletedAttempt(AttemptResult("CHECKED"))
        with active(self.layer_of(filled)):
            return CompletedAttempt(attempt(action, self.launcher.bundle))

    def _start_nested(self, task: Task) -> TaskAttempt:
        if len(self.parents) >= _MAX_NESTED_JOBS:
            message = f"The task `{task.key}` is the {_MAX_NESTED_JOBS + 1}th job within a job."
            raise ConfigurationError("JOB_TOO_DEEP", message, next_step="Remove the cycle of run_job_task.")
        given = {str(name): str(value) for name, value in (task.spec.get("job_parameters") or {}).items()}
        run_id = str(uuid.uuid4().int % 10**15)
        inner = self.launcher.plan(
            self._job_of(task), given, run_id=run_id, parents=(*self.parents, task.key)
        )
        inner.install()
        return NestedRun(inner.run_loop(time.monotonic()))

    def _job_of(self, task: Task) -> str:
        bundle, identifier = self.launcher.bundle, task.spec.get("job_id")
        key = bundle.key_of("jobs", identifier)
        if key is None:
            message = f"The task `{task.key}` runs the job `{identifier}`, which is not one of this bundle."
            known = [f"${{resources.jobs.{name}.id}}" for name in bundle.jobs]
            raise ConfigurationError(
                "JOB_UNKNOWN", message, next_step=unknown_name_hint(str(identifier), known, what="jobs")
            )
        return key

    def _start_process(self, task: Task, number: int) -> TaskAttempt:
        launcher = self.launcher
        assert launcher.isolated_in is not None
        # Its process has an output of its own, and sends events and new values as messages.
        context = replace(self._context(), stdout=None, on_event=None, task_values=dict(self.values))
        work = TaskRequest(context, task, known_secrets())
        name = f"{self.key}.{task.key}" if self.parents else task.key
        log = task_log(launcher.isolated_in, name, number)
        # An iteration belongs to its loop.
        outermost = (*self.parents, task.key)[0].partition("[")[0]
        return TaskProcess(
            work,
            launcher.take_worker(self.layer_of(task)),
            log=TaskLog(log, partial(launcher.on_output, outermost)),
            on_event=self._event_callback(task, outermost),
            on_value=self.values.__setitem__,
            lend=launcher.lend,
            release=launcher.semaphore.claim() if launcher.semaphore else lambda: None,
        )

    def _event_callback(self, task: Task, outermost: str) -> Callable[[Progress], None]:
        launcher = self.launcher
        if task.kind != "pipeline_task":
            return launcher.on_event
        pipeline = launcher.bundle.key_of("pipelines", task.spec.get("pipeline_id"))
        assert pipeline is not None  # checked before it started

        def callback(event: Progress) -> None:
            launcher.on_event(event)
            launcher.on_update(outermost, pipeline, event)

        return callback

    def _context(self) -> Context:
        launcher = self.launcher
        return Context(
            launcher.bundle,
            launcher.settings,
            self.job,
            self.parameters,
            launcher.selection,
            stdout=launcher.stdout,
            on_event=launcher.on_event,
            job_id=self.known["job.id"],
            run_id=self.known["job.run_id"],
            task_values=self.values,
            wheels=launcher.wheels,
        )
