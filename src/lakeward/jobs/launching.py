"""From a task that is due to an attempt under way: here, in a process, or as a run within the run."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.bundle import Bundle, suggestion
from lakeward.errors import ConfigurationError, LakewardError
from lakeward.jobs.composites import Within, inner_of, loop
from lakeward.jobs.conditions import compared, require_condition
from lakeward.jobs.definition import Task, tasks_of
from lakeward.jobs.drive import Drive, Handle
from lakeward.jobs.filling import Filling
from lakeward.jobs.graph import ordered, selected
from lakeward.jobs.history import Past
from lakeward.jobs.inline import Done, attempt
from lakeward.jobs.logs import TaskLog
from lakeward.jobs.parameters import values_of
from lakeward.jobs.pipelines import Selection
from lakeward.jobs.processes import TaskProcess
from lakeward.jobs.references import BY_HAND, Origin, of_job, parameters_of, substituted
from lakeward.jobs.room import Room
from lakeward.jobs.schedule import End, Record, Schedule
from lakeward.jobs.tasks import COMPOSITES, Context, prepare
from lakeward.jobs.waiting import Waiting
from lakeward.jobs.work import Work

if TYPE_CHECKING:
    from lakeward.session import Offer, Settings

__all__ = ["Launcher", "Prepared"]

_DEEPEST = 10


@dataclass
class Launcher:
    """Starts the tasks of a run and of all runs within it.

    `show` gets what processes print, with the key of the run's own task in which it was; `on_update` what
    their pipelines do, with that key and the pipeline's.
    """

    bundle: Bundle
    settings: Settings
    selection: Selection
    stdout: TextIO | None
    show: Callable[[str, str], None]
    on_event: Callable[[Any], None]
    on_update: Callable[[str, str, Any], None]
    started: datetime
    limit: int
    logs: Path | None
    origin: Origin = BY_HAND
    room: Room | None = None
    wheels: Mapping[str, Path] = field(default_factory=dict)
    ahead: list[Waiting] = field(default_factory=list)
    _wanted: int = 0

    def job(
        self,
        key: str,
        parameters: Mapping[str, str],
        *,
        run_id: str,
        only: Sequence[str] = (),
        past: Past | None = None,
        within: Sequence[str] = (),
    ) -> Prepared:
        """Return a run of the job `key`, checked as far as can be before it starts (ConfigurationError)."""
        job = self.bundle.job(key)
        tasks = ordered(key, tasks_of(key, job))
        chosen = selected(key, tasks, only)
        known = of_job(
            values_of(key, job, parameters),
            job_id=self.bundle.id_of("jobs", key),
            job_name=str(job.get("name") or key),
            run_id=run_id,
            started=self.started,
            origin=replace(self.origin, trigger="run_job_task", task_runs={}) if within else self.origin,
            repairs=past.repairs + 1 if past else 0,
        )
        ended = {task.key: End("EXCLUDED") for task in tasks if task.key not in chosen or task.disabled}
        ended |= {task: end for task, end in (past.kept if past else {}).items() if task in chosen}
        values = dict(past.values) if past else {}
        prepared = Prepared(self, key, job, tasks, parameters_of(known), known, ended, values, within)
        prepared.check()
        return prepared

    def start_ahead(self, number: int) -> None:
        """Have processes ready for `number` tasks, as many as run at once."""
        self._wanted = number
        while len(self.ahead) < min(self._wanted, self.limit):
            self.ahead.append(Waiting())

    def next_process(self) -> Waiting:
        """Return a process for a task, and have another ready where one more is expected."""
        waiting = self.ahead.pop(0) if self.ahead else Waiting()
        self.start_ahead(max(0, self._wanted - 1))
        return waiting

    def lend(self) -> Offer | None:
        """Open this process's JVM for a task; None where it has none, which the task will find out, too."""
        from lakeward.session import offer, session

        try:
            return offer(session(self.settings), f"lakeward-{uuid.uuid4().hex}")
        except LakewardError:
            return None

    def close(self) -> None:
        """End the processes that no task has come for."""
        while self.ahead:
            self.ahead.pop().dismiss()
        if self.room is not None:
            self.room.close()

    def has_room(self, task: Task) -> bool:
        """Whether there is room for `task` now: only a process of its own takes any."""
        return self.room is None or task.kind in COMPOSITES or self.room.reserve()


@dataclass
class Prepared:
    """A run of one job that has not begun: its tasks in order, and what is known before any has run.

    `within` are the tasks of other runs around it, the outermost first.
    """

    launcher: Launcher
    key: str
    job: Mapping[str, Any]
    tasks: Sequence[Task]
    parameters: Mapping[str, str]
    known: Mapping[str, str]
    ended: dict[str, End]
    values: dict[tuple[str, str], str]
    within: Sequence[str]
    _drive: Drive | None = None
    _filling: Filling = field(init=False)

    def __post_init__(self) -> None:
        # The ids of the origin are those of the outermost run.
        task_runs = {} if self.within else self.launcher.origin.task_runs
        self._filling = Filling(self.known, self.tasks, self.values, task_runs, self._records)

    def _records(self) -> Mapping[str, Record]:
        return self._drive.schedule.records if self._drive else {}

    @property
    def processes(self) -> int:
        """How many of its tasks want a process."""
        return sum(task.kind not in COMPOSITES for task in self.tasks if task.key not in self.ended)

    @property
    def has_work(self) -> bool:
        """Whether anything is left to run."""
        return len(self.ended) < len(self.tasks)

    def check(self) -> None:
        """Raise ConfigurationError for what is wrong in a task; a dry run leaves out those without action."""
        for task in self.tasks:
            if task.key not in self.ended and self._checked(task) is False:
                self.ended[task.key] = End("EXCLUDED")

    def _checked(self, task: Task) -> bool:
        filled = self._filling.filled(task, late=True)
        dry = self.launcher.selection.dry_run
        if task.kind == "condition_task":
            require_condition(task.key, filled.spec)
        elif task.kind == "for_each_task":
            self._checked(inner_of(self.key, filled))
        elif task.kind == "run_job_task":
            self._job_of(filled)
        else:
            return prepare(self._context(), filled) is not None
        return not dry

    def drive(self, began: float) -> Drive:
        """Return the run itself."""
        launcher = self.launcher
        schedule = Schedule.of(
            self.tasks,
            ended=self.ended,
            limit=launcher.limit,
            timeout=float(self.job.get("timeout_seconds") or 0) if launcher.logs else 0.0,
            began=began,
        )
        tell = (lambda _: None) if self.within else launcher.on_event
        self._drive = Drive(schedule, self.launch, clock=time.monotonic, tell=tell, room=launcher.has_room)
        return self._drive

    def launch(self, task: Task, number: int) -> Handle:
        """Start an attempt at `task`. Raises ConfigurationError when one of its references has no value."""
        filled = self._filling.filled(task, number=number, late=task.kind == "for_each_task")
        if task.kind == "condition_task":
            return Done(End("SUCCESS", outcome=str(compared(task.key, filled.spec)).lower()))
        if task.kind == "for_each_task":
            where = f"the loop `{task.key}`"
            inputs = substituted(task.spec.get("inputs"), self._filling.references(), where=where)
            whole = replace(filled, spec={**filled.spec, "inputs": inputs})
            return loop(
                whole,
                self.launch,
                job_key=self.key,
                clock=time.monotonic,
                tell=lambda _: None,
                room=self.launcher.has_room,
            )
        if task.kind == "run_job_task":
            return self._nested(filled)
        if self.launcher.logs is not None:
            return self._process(filled, number)
        action = prepare(self._context(), filled)
        return Done(End("EXCLUDED") if action is None else attempt(action, self.launcher.bundle))

    def _nested(self, task: Task) -> Handle:
        if len(self.within) >= _DEEPEST:
            message = f"The task `{task.key}` is the {_DEEPEST + 1}th job within a job."
            raise ConfigurationError("JOB_TOO_DEEP", message, next_step="A job that runs itself has no end.")
        given = {str(name): str(value) for name, value in (task.spec.get("job_parameters") or {}).items()}
        run_id = str(uuid.uuid4().int % 10**15)
        inner = self.launcher.job(self._job_of(task), given, run_id=run_id, within=(*self.within, task.key))
        return Within(inner.drive(time.monotonic()))

    def _job_of(self, task: Task) -> str:
        bundle, identifier = self.launcher.bundle, task.spec.get("job_id")
        key = bundle.key_of("jobs", identifier)
        if key is None:
            message = f"The task `{task.key}` runs the job `{identifier}`, which is not one of this bundle."
            known = [f"${{resources.jobs.{name}.id}}" for name in bundle.jobs]
            raise ConfigurationError(
                "JOB_UNKNOWN", message, next_step=suggestion(str(identifier), known, what="jobs")
            )
        return key

    def _process(self, task: Task, number: int) -> Handle:
        launcher = self.launcher
        assert launcher.logs is not None
        context = self._context()
        work = Work(
            launcher.bundle,
            launcher.settings,
            self.job,
            task,
            self.parameters,
            launcher.selection,
            context.job_id,
            context.run_id,
            dict(self.values),
            launcher.wheels,
        )
        name = f"{f'{self.key}.' if self.within else ''}{task.key}{'' if number == 1 else f'.{number}'}.log"
        # A pass of a loop is a part of the loop.
        outermost = (*self.within, task.key)[0].partition("[")[0]
        return TaskProcess(
            work,
            launcher.next_process(),
            log=TaskLog(launcher.logs / name.replace("/", "_"), partial(launcher.show, outermost)),
            on_event=self._heard(task, outermost),
            on_value=self.values.__setitem__,
            lend=launcher.lend,
            release=launcher.room.claim() if launcher.room else lambda: None,
        )

    def _heard(self, task: Task, outermost: str) -> Callable[[Any], None]:
        launcher = self.launcher
        if task.kind != "pipeline_task":
            return launcher.on_event
        pipeline = launcher.bundle.key_of("pipelines", task.spec.get("pipeline_id"))
        assert pipeline is not None  # checked before it started

        def hear(event: Any) -> None:
            launcher.on_event(event)
            launcher.on_update(outermost, pipeline, event)

        return hear

    def _context(self) -> Context:
        launcher = self.launcher
        return Context(
            launcher.bundle,
            launcher.settings,
            self.job,
            self.parameters,
            launcher.selection,
            launcher.stdout,
            launcher.on_event,
            self.known["job.id"],
            self.known["job.run_id"],
            self.values,
            launcher.wheels,
        )
