"""The run of a job's tasks: their state as a value, the loop that starts, polls and stops them, results.

The state (`TaskGraphState`) has no processes and no clock; events return a new one. `RunLoop` starts the
tasks that `ready` returns, reports `started` and `ended`, and stops those that are `overdue`, until the state
`is_done`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lakeward.dbutils import redacted
from lakeward.errors import LakewardError
from lakeward.jobs.definition import Task, Upstream, evaluate_run_if

if TYPE_CHECKING:
    from lakeward.pipelines import DatasetResult, Update


@dataclass(frozen=True)
class AttemptResult:
    """The result of a task or of one attempt.

    `outcome` is `true` or `false` for conditions, `trace` the traceback of user code.
    """

    state: Literal["SUCCESS", "FAILED", "TIMEDOUT", "SKIPPED", "CANCELED", "EXCLUDED", "UNTAKEN"]
    error: str | None = None
    outcome: str | None = None
    update: Update | None = None
    trace: str | None = None


@dataclass(frozen=True)
class TaskState:
    """A task in a run: waiting (before `not_before`, for a retry), running since `began`, or at its `end`."""

    attempt: int = 0
    began: float | None = None
    not_before: float = 0.0
    seconds: float = 0.0
    end: AttemptResult | None = None

    @property
    def running(self) -> bool:
        """Return whether an attempt is under way."""
        return self.began is not None and self.end is None


@dataclass(frozen=True)
class TaskGraphState:
    """The tasks of a run, upstream first, the state of each by its key, and the limit of concurrent tasks.

    `left_out` are the tasks that were excluded before the run: disabled, or not selected.
    """

    tasks: Sequence[Task]
    states: Mapping[str, TaskState]
    limit: int = 1
    timeout: float = 0.0
    began: float = 0.0
    left_out: frozenset[str] = frozenset()
    _by_key: Mapping[str, Task] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {task.key: task for task in self.tasks})

    @classmethod
    def of(
        cls,
        tasks: Sequence[Task],
        *,
        ended: Mapping[str, AttemptResult] = {},
        limit: int = 1,
        timeout: float = 0.0,
        began: float = 0.0,
    ) -> TaskGraphState:
        """Return the initial state of `tasks`; those in `ended` do not run."""
        states = {task.key: TaskState(end=ended.get(task.key)) for task in tasks}
        left_out = frozenset(key for key, end in ended.items() if end.state == "EXCLUDED")
        return cls(tasks, states, limit, timeout, began, left_out)

    @property
    def is_done(self) -> bool:
        """Return whether every task has ended."""
        return all(record.end is not None for record in self.states.values())

    def with_skipped(self) -> TaskGraphState:
        """Return a copy in which tasks are ended that the results upstream exclude from running."""
        states = dict(self.states)
        for task in self.tasks:
            ends = [states[key].end for key in task.depends_on]
            if states[task.key].end is not None or states[task.key].attempt or None in ends:
                continue
            decided = evaluate_run_if(
                task.run_if, [_upstream_state(states[key], task, key) for key in task.depends_on]
            )
            if decided != "RUN":
                states[task.key] = replace(
                    states[task.key], end=AttemptResult(decided, _reason(task, decided, states))
                )
        return replace(self, states=states)

    def ready(self, now: float) -> tuple[Task, ...]:
        """Return the tasks to start at `now`, in their order, within the limit of concurrent tasks."""
        free = self.limit - sum(record.running for record in self.states.values())
        waiting = [task for task in self.tasks if self._may_start(task, now)]
        return tuple(waiting[: max(0, free)])

    def _may_start(self, task: Task, now: float) -> bool:
        record = self.states[task.key]
        if record.end is not None or record.running or now < record.not_before:
            return False
        return all(self.states[key].end is not None for key in task.depends_on)

    def started(self, key: str, now: float) -> TaskGraphState:
        """Return a copy with another attempt at the task `key` running."""
        record = self.states[key]
        return self._with(key, replace(record, attempt=record.attempt + 1, began=now))

    def begins(self, key: str, now: float) -> TaskGraphState:
        """Return a copy whose attempt at `key` begins now: process start-up is not the task's time."""
        return self._with(key, replace(self.states[key], began=now))

    def ended(self, key: str, end: AttemptResult, now: float) -> TaskGraphState:
        """Return a copy with the attempt at `key` ended, or waiting for its retry."""
        task, record = self._by_key[key], self.states[key]
        seconds = record.seconds + (now - record.began if record.began is not None else 0.0)
        again = end.state == "FAILED" or (end.state == "TIMEDOUT" and task.retry_on_timeout)
        if again and (task.retries < 0 or record.attempt <= task.retries):
            waiting = replace(record, began=None, seconds=seconds, not_before=now + task.retry_after)
            return self._with(key, waiting)
        return self._with(key, replace(record, seconds=seconds, end=end))

    def overdue(self, now: float) -> tuple[str, ...]:
        """Return the running tasks that exceed their timeout or that of the run."""
        if self.timeout and now - self.began >= self.timeout:
            return tuple(key for key, record in self.states.items() if record.running)
        return tuple(
            task.key
            for task in self.tasks
            if task.timeout
            and (at := self.states[task.key]).running
            and now - (at.began or 0.0) >= task.timeout
        )

    def expired(self, now: float) -> bool:
        """Return whether the run exceeds its timeout."""
        return bool(self.timeout) and now - self.began >= self.timeout

    def canceled(self, reason: str, now: float) -> TaskGraphState:
        """Return a copy in which all unfinished tasks are CANCELED for `reason`."""
        states = {
            key: record
            if record.end is not None
            else replace(
                record,
                seconds=record.seconds + (now - record.began if record.began is not None else 0.0),
                end=AttemptResult("CANCELED", reason),
            )
            for key, record in self.states.items()
        }
        return replace(self, states=states)

    @property
    def result(self) -> Literal["COMPLETED", "FAILED", "CANCELED"]:
        """Return the result of the run: that of the tasks without downstream tasks, as on the platform.

        A task that was left out is downstream of none: it would hide that its upstream failed.
        """
        ends = {key: record.end.state for key, record in self.states.items() if record.end is not None}
        if "CANCELED" in ends.values():
            return "CANCELED"
        upstream = {key for task in self.tasks if task.key not in self.left_out for key in task.depends_on}
        leaves = {state for key, state in ends.items() if key not in upstream}
        return "FAILED" if leaves & {"FAILED", "TIMEDOUT", "SKIPPED"} else "COMPLETED"

    def _with(self, key: str, record: TaskState) -> TaskGraphState:
        return replace(self, states={**self.states, key: record})


def _upstream_state(record: TaskState, task: Task, key: str) -> Upstream:
    end = record.end
    assert end is not None
    if end.state in ("FAILED", "TIMEDOUT", "SKIPPED", "CANCELED"):
        return "failed"
    wanted = task.outcomes.get(key)
    if end.state == "UNTAKEN" or (wanted is not None and end.outcome is not None and end.outcome != wanted):
        return "untaken"
    return "succeeded"


def _reason(task: Task, decided: str, states: Mapping[str, TaskState]) -> str | None:
    if decided != "SKIPPED":
        return None
    failed = [key for key in task.depends_on if _upstream_state(states[key], task, key) == "failed"]
    return f"It depends on {', '.join(failed)}, which did not succeed."


class TaskAttempt(Protocol):
    """A running attempt at a task."""

    @property
    def has_started(self) -> bool:
        """Return whether its code runs: process start-up does not count towards the timeout."""
        ...

    def poll(self) -> AttemptResult | None:
        """Return the result, None while it runs."""
        ...

    def stop(self) -> None:
        """Stop the attempt and its processes."""
        ...


Launch = Callable[[Task, int], TaskAttempt]
"""Starts the n-th attempt at a task. A LakewardError fails the task."""


class RunLoop:
    """Executes a run: each `tick` does what is due, until `state.is_done`.

    A task for which `has_capacity` is False stays ready until the next tick.
    """

    def __init__(
        self,
        state: TaskGraphState,
        launch: Launch,
        *,
        clock: Callable[[], float],
        report: Callable[[TaskProgress], None] = lambda _: None,
        has_capacity: Callable[[Task], bool] = lambda _: True,
    ) -> None:
        self.state = state
        self._launch = launch
        self._clock = clock
        self._report = report
        self._has_capacity = has_capacity
        self._attempts: dict[str, TaskAttempt] = {}
        self._reported: set[str] = set()

    def tick(self) -> bool:
        """Do what is due; return whether anything changed."""
        before = self._progress()
        self._collect()
        self._stop_overdue()
        self.state = self.state.with_skipped()
        self._report_results()
        for task in self.state.ready(self._clock()):
            if not self._has_capacity(task):
                continue
            self.state = self.state.started(task.key, self._clock())
            self._report(TaskProgress(task.key, "RUNNING"))
            try:
                self._attempts[task.key] = self._launch(task, self.state.states[task.key].attempt)
            except LakewardError as error:
                self._end(task.key, AttemptResult("FAILED", str(error)))
        return self._progress() != before

    def _progress(self) -> dict[str, tuple[int, AttemptResult | None]]:
        return {key: (record.attempt, record.end) for key, record in self.state.states.items()}

    def cancel(self, reason: str) -> None:
        """Stop all running tasks; these and all waiting ones are CANCELED."""
        for handle in self._attempts.values():
            handle.stop()
        self._attempts.clear()
        self.state = self.state.canceled(reason, self._clock())
        self._report_results()

    def results(self) -> tuple[TaskResult, ...]:
        """Return the results of all tasks, in their order."""
        return tuple(self._result(task.key) for task in self.state.tasks)

    def _collect(self) -> None:
        for key, handle in self._attempts.copy().items():
            end = handle.poll()
            if end is None:
                if not handle.has_started:
                    self.state = self.state.begins(key, self._clock())
                continue
            del self._attempts[key]
            self._end(key, end)
            if end.state == "CANCELED":
                self.cancel("The run was canceled.")
                return

    def _stop_overdue(self) -> None:
        now = self._clock()
        for key in self.state.overdue(now):
            handle = self._attempts.pop(key, None)
            if handle is not None:
                handle.stop()
            seconds = self.state.timeout if self.state.expired(now) else self._seconds(key)
            self._end(
                key, AttemptResult("TIMEDOUT", f"It was stopped: it ran longer than {seconds:g} seconds.")
            )
        if self.state.expired(now) and not self.state.is_done:
            self.cancel(f"The run took longer than {self.state.timeout:g} seconds.")

    def _seconds(self, key: str) -> float:
        return next(task.timeout for task in self.state.tasks if task.key == key)

    def _end(self, key: str, end: AttemptResult) -> None:
        if end.error:
            # It may quote a task value that another task has read from a secret.
            end = replace(end, error=redacted(end.error))
        self.state = self.state.ended(key, end, self._clock())

    def _report_results(self) -> None:
        for result in self.results():
            ended = self.state.states[result.task_key].end is not None
            if ended and result.task_key not in self._reported:
                self._reported.add(result.task_key)
                self._report(
                    TaskProgress(
                        result.task_key, result.state, result.seconds, result.timed_out, result.update
                    )
                )

    def _result(self, key: str) -> TaskResult:
        record = self.state.states[key]
        end = record.end or AttemptResult("CANCELED")
        tries = f" (attempt {record.attempt})" if record.attempt > 1 and end.error else ""
        # A branch that was not taken is EXCLUDED, as on the platform; a time that is over is a failure.
        states: dict[str, str] = {"UNTAKEN": "EXCLUDED", "TIMEDOUT": "FAILED"}
        state = states.get(end.state, end.state)
        error = f"{end.error}{tries}" if end.error else None
        timed_out = end.state == "TIMEDOUT"
        return TaskResult(key, state, record.seconds, error, end.update, timed_out, end.trace)  # type: ignore[arg-type]  # one of its words


def first_failure(results: Sequence[TaskResult]) -> str | None:
    """Return the first error of `results`, with its task."""
    return next((f"{each.task_key}: {each.error}" for each in results if each.state == "FAILED"), None)


@dataclass(frozen=True)
class PipelineSelection:
    """Which datasets an update refreshes, and whether it is a dry run.

    `only_selected` leaves the other tables out of the graph, as tests of pipelines need it.
    """

    refresh: tuple[str, ...] = ()
    only_selected: bool = False
    full_refresh: tuple[str, ...] = ()
    full_refresh_all: bool = False
    dry_run: bool = False
    reset_checkpoints: tuple[str, ...] = ()

    @classmethod
    def from_lists(cls, fields: Mapping[str, Any]) -> PipelineSelection:
        """Return the selection of a JSON object, whose values are lists and booleans."""
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
        }
        return cls(**values)


@dataclass(frozen=True)
class TaskProgress:
    """A change of a task's state; `seconds` is its run time so far, `update` the update of its pipeline."""

    task_key: str
    state: Literal["RUNNING", "SUCCESS", "FAILED", "SKIPPED", "CANCELED", "EXCLUDED"]
    seconds: float = 0.0
    timed_out: bool = False
    update: Update | None = None


@dataclass(frozen=True)
class TaskResult:
    """The result of a task.

    `update` is set for tasks that ran a pipeline, `trace` if user code raised. A task that exceeded its
    timeout is FAILED and has `timed_out`.
    """

    task_key: str
    state: Literal["SUCCESS", "FAILED", "SKIPPED", "CANCELED", "EXCLUDED"]
    seconds: float = 0.0
    error: str | None = None
    update: Update | None = None
    timed_out: bool = False
    trace: str | None = None


@dataclass(frozen=True)
class JobRun:
    """A finished run of a job; `exit_values` are those of notebooks and the states of alerts, by task."""

    run_id: str
    state: Literal["COMPLETED", "FAILED", "CANCELED"]
    tasks: tuple[TaskResult, ...]
    seconds: float
    exit_values: Mapping[str, str] = field(default_factory=dict)

    @property
    def datasets(self) -> tuple[DatasetResult, ...]:
        """Return the datasets of all pipelines that the run updated, in the order of the tasks."""
        return tuple(dataset for task in self.tasks if task.update for dataset in task.update.datasets)

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints for a job."""
        updates = [task.update.as_json() for task in self.tasks if task.update is not None]
        return {
            "state": self.state,
            "run_id": self.run_id,
            "datasets": [dataset for update in updates for dataset in update["datasets"]],
            "tasks": [
                {
                    "task_key": task.task_key,
                    "state": task.state,
                    "seconds": round(task.seconds, 3),
                    "error": task.error,
                }
                for task in self.tasks
            ],
            "seconds": round(self.seconds, 3),
        }
