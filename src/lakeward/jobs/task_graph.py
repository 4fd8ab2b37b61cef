"""The state of a run's tasks as a value: no processes and no clock; events return a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from lakeward.jobs.definition import Task
from lakeward.run_conditions import Upstream, evaluate_run_if

if TYPE_CHECKING:
    from lakeward.pipelines import Update


@dataclass(frozen=True)
class AttemptResult:
    """The result of a task or of one attempt.

    `outcome` is `true` or `false` for conditions, `trace` the traceback of user code. CHECKED is the end of
    a task in a dry run that runs no code of it.
    """

    state: Literal["SUCCESS", "FAILED", "TIMEDOUT", "SKIPPED", "CANCELED", "EXCLUDED", "UNTAKEN", "CHECKED"]
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

    `left_out` are the tasks that were excluded before the run: disabled, not selected, or only checked.
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
        left_out = frozenset(key for key, end in ended.items() if end.state in ("EXCLUDED", "CHECKED"))
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

    def ready_tasks(self, now: float) -> tuple[Task, ...]:
        """Return the tasks to start at `now`, in their order, within the limit of concurrent tasks."""
        free = self.limit - sum(record.running for record in self.states.values())
        waiting = [task for task in self.tasks if self._may_start(task, now)]
        return tuple(waiting[: max(0, free)])

    def _may_start(self, task: Task, now: float) -> bool:
        record = self.states[task.key]
        if record.end is not None or record.running or now < record.not_before:
            return False
        return all(self.states[key].end is not None for key in task.depends_on)

    def with_started(self, key: str, now: float) -> TaskGraphState:
        """Return a copy with another attempt at the task `key` running."""
        record = self.states[key]
        return self._with(key, replace(record, attempt=record.attempt + 1, began=now))

    def with_begin(self, key: str, now: float) -> TaskGraphState:
        """Return a copy whose attempt at `key` begins now: process start-up is not the task's time."""
        return self._with(key, replace(self.states[key], began=now))

    def with_ended(self, key: str, end: AttemptResult, now: float) -> TaskGraphState:
        """Return a copy with the attempt at `key` ended, or waiting for its retry."""
        task, record = self._by_key[key], self.states[key]
        seconds = record.seconds + (now - record.began if record.began is not None else 0.0)
        again = end.state == "FAILED" or (end.state == "TIMEDOUT" and task.retry_on_timeout)
        if again and (task.retries < 0 or record.attempt <= task.retries):
            waiting = replace(record, began=None, seconds=seconds, not_before=now + task.retry_after)
            return self._with(key, waiting)
        return self._with(key, replace(record, seconds=seconds, end=end))

    def overdue_tasks(self, now: float) -> tuple[str, ...]:
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

    def is_expired(self, now: float) -> bool:
        """Return whether the run exceeds its timeout."""
        return bool(self.timeout) and now - self.began >= self.timeout

    def with_canceled(self, reason: str, now: float) -> TaskGraphState:
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
