"""The loop of a run: starts tasks, collects results, enforces timeouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from lakeward.dbutils import redacted
from lakeward.errors import LakewardError
from lakeward.jobs.definition import Task
from lakeward.jobs.model import TaskProgress, TaskResult
from lakeward.jobs.task_state import AttemptResult, TaskGraphState


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
        before = {key: (record.attempt, record.end) for key, record in self.state.tasks_by_key.items()}
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
                self._attempts[task.key] = self._launch(task, self.state.tasks_by_key[task.key].attempt)
            except LakewardError as error:
                self._end(task.key, AttemptResult("FAILED", str(error)))
        return {
            key: (record.attempt, record.end) for key, record in self.state.tasks_by_key.items()
        } != before

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
        for key, handle in list(self._attempts.items()):
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
            ended = self.state.tasks_by_key[result.task_key].end is not None
            if ended and result.task_key not in self._reported:
                self._reported.add(result.task_key)
                self._report(
                    TaskProgress(
                        result.task_key, result.state, result.seconds, result.timed_out, result.update
                    )
                )

    def _result(self, key: str) -> TaskResult:
        record = self.state.tasks_by_key[key]
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
