"""Driving a schedule: tasks are started, looked after, stopped when their time is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from lakeward.errors import LakewardError
from lakeward.jobs.definition import Task
from lakeward.jobs.model import TaskProgress, TaskResult
from lakeward.jobs.schedule import End, Schedule

__all__ = ["Drive", "Handle", "Launch"]


class Handle(Protocol):
    """An attempt at a task that is under way."""

    @property
    def begun(self) -> bool:
        """Whether its code has begun: what a process needs to come up is not the task's time."""
        ...

    def poll(self) -> End | None:
        """Return how it ended, None while it runs."""
        ...

    def stop(self) -> None:
        """End it and everything that it started, now."""
        ...


Launch = Callable[[Task, int], Handle]
"""Starts the n-th attempt at a task. A LakewardError says that it cannot be started, and fails it."""


class Drive:
    """A run under way: `step` does what is due now, until the schedule is over.

    A task for which there is no `room` is asked for again with the next step.
    """

    def __init__(
        self,
        schedule: Schedule,
        launch: Launch,
        *,
        clock: Callable[[], float],
        tell: Callable[[TaskProgress], None] = lambda _: None,
        room: Callable[[Task], bool] = lambda _: True,
    ) -> None:
        self.schedule = schedule
        self._launch = launch
        self._clock = clock
        self._tell = tell
        self._room = room
        self._handles: dict[str, Handle] = {}
        self._told: set[str] = set()

    def step(self) -> bool:
        """Do what is due; returns whether anything changed."""
        before = {key: (record.attempt, record.end) for key, record in self.schedule.records.items()}
        self._collect()
        self._stop_overdue()
        self.schedule = self.schedule.settled()
        self._tell_ends()
        for task in self.schedule.ready(self._clock()):
            if not self._room(task):
                continue
            self.schedule = self.schedule.started(task.key, self._clock())
            self._tell(TaskProgress(task.key, "RUNNING"))
            try:
                self._handles[task.key] = self._launch(task, self.schedule.records[task.key].attempt)
            except LakewardError as error:
                self._end(task.key, End("FAILED", str(error)))
        return {key: (record.attempt, record.end) for key, record in self.schedule.records.items()} != before

    def cancel(self, reason: str) -> None:
        """Stop all tasks that run; those and all that wait are CANCELED."""
        for handle in self._handles.values():
            handle.stop()
        self._handles.clear()
        self.schedule = self.schedule.canceled(reason, self._clock())
        self._tell_ends()

    def results(self) -> tuple[TaskResult, ...]:
        """Return what became of each task, in their order."""
        return tuple(self._result(task.key) for task in self.schedule.tasks)

    def _collect(self) -> None:
        for key, handle in list(self._handles.items()):
            end = handle.poll()
            if end is None:
                if not handle.begun:
                    self.schedule = self.schedule.begins(key, self._clock())
                continue
            del self._handles[key]
            self._end(key, end)
            if end.state == "CANCELED":
                self.cancel("The run was canceled.")
                return

    def _stop_overdue(self) -> None:
        now = self._clock()
        for key in self.schedule.overdue(now):
            handle = self._handles.pop(key, None)
            if handle is not None:
                handle.stop()
            seconds = self.schedule.timeout if self.schedule.expired(now) else self._seconds(key)
            self._end(key, End("TIMEDOUT", f"It was stopped: it ran longer than {seconds:g} seconds."))
        if self.schedule.expired(now) and not self.schedule.over:
            self.cancel(f"The run took longer than {self.schedule.timeout:g} seconds.")

    def _seconds(self, key: str) -> float:
        return next(task.timeout for task in self.schedule.tasks if task.key == key)

    def _end(self, key: str, end: End) -> None:
        self.schedule = self.schedule.ended(key, end, self._clock())

    def _tell_ends(self) -> None:
        for result in self.results():
            ended = self.schedule.records[result.task_key].end is not None
            if ended and result.task_key not in self._told:
                self._told.add(result.task_key)
                self._tell(
                    TaskProgress(
                        result.task_key, result.state, result.seconds, result.timed_out, result.update
                    )
                )

    def _result(self, key: str) -> TaskResult:
        record = self.schedule.records[key]
        end = record.end or End("CANCELED")
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
