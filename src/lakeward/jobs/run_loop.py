"""The loop that starts, polls and stops the tasks of a run.

It starts the tasks that are ready by the state of the task graph, tells the state which attempts have started
and ended, and stops those that are overdue, until all tasks are done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from lakeward.dbutils import redact
from lakeward.errors import LakewardError
from lakeward.jobs.definition import Task
from lakeward.jobs.run_results import TaskProgress, TaskResult
from lakeward.jobs.task_graph import AttemptResult, TaskGraphState


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
        for task in self.state.ready_tasks(self._clock()):
            if not self._has_capacity(task):
                continue
            self.state = self.state.with_started(task.key, self._clock())
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
        self.state = self.state.with_canceled(reason, self._clock())
        self._report_results()

    def results(self) -> tuple[TaskResult, ...]:
        """Return the results of all tasks, in their order."""
        return tuple(self._result(task.key) for task in self.state.tasks)

    def _collect(self) -> None:
        for key, handle in self._attempts.copy().items():
            end = handle.poll()
            if end is None:
                if not handle.has_started:
                    self.state = self.state.with_begin(key, self._clock())
                continue
            del self._attempts[key]
            self._end(key, end)
            if end.state == "CANCELED":
                self.cancel("The run was canceled.")
                return

    def _stop_overdue(self) -> None:
        now = self._clock()
        for key in self.state.overdue_tasks(now):
            handle = self._attempts.pop(key, None)
            if handle is not None:
                handle.stop()
            seconds = self.state.timeout if self.state.is_expired(now) else self._seconds(key)
            self._end(
                key, AttemptResult("TIMEDOUT", f"It was stopped: it ran longer than {seconds:g} seconds.")
            )
        if self.state.is_expired(now) and not self.state.is_done:
            self.cancel(f"The run took longer than {self.state.timeout:g} seconds.")

    def _seconds(self, key: str) -> float:
        return next(task.timeout for task in self.state.tasks if task.key == key)

    def _end(self, key: str, end: AttemptResult) -> None:
        if end.error:
            # It may quote a task value that another task has read from a secret.
            end = replace(end, error=redact(end.error))
        now = self._clock()
        self.state = self.state.with_ended(key, end, now)
        record = self.state.states[key]
        if record.end is None:
            pause = f"the next attempt starts in {max(0.0, record.not_before - now):g} s"
            reason = f": {end.error}" if end.error else ""
            message = f"attempt {record.attempt} failed, {pause}{reason}"
            self._report(TaskProgress(key, "WAITING_FOR_RETRY", record.seconds, message=message))

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
