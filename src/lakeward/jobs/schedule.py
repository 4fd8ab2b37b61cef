"""Which task of a run is next: a value that events change, without processes or a clock.

Whoever drives it starts what `ready` names, tells `started` and `ended`, stops what is `overdue`, and goes on
until it is `over`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from lakeward.jobs.definition import Task
from lakeward.jobs.run_if import Upstream, fate

if TYPE_CHECKING:
    from lakeward.pipelines import Update

__all__ = ["End", "Record", "Schedule"]


@dataclass(frozen=True)
class End:
    """How a task, or one attempt at it, ended.

    `outcome` is a condition's: `true` or `false`; `trace` is where the user's code failed.
    """

    state: Literal["SUCCESS", "FAILED", "TIMEDOUT", "SKIPPED", "CANCELED", "EXCLUDED", "UNTAKEN"]
    error: str | None = None
    outcome: str | None = None
    update: Update | None = None
    trace: str | None = None


@dataclass(frozen=True)
class Record:
    """A task in a run: waiting (before `not_before`, for a retry), running since `began`, or at its `end`."""

    attempt: int = 0
    began: float | None = None
    not_before: float = 0.0
    seconds: float = 0.0
    end: End | None = None

    @property
    def running(self) -> bool:
        """Whether an attempt is under way."""
        return self.began is not None and self.end is None


@dataclass(frozen=True)
class Schedule:
    """The tasks of a run, upstream first, what is known of each, and how many may run at once."""

    tasks: Sequence[Task]
    records: Mapping[str, Record]
    limit: int = 1
    timeout: float = 0.0
    began: float = 0.0
    _by_key: Mapping[str, Task] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {task.key: task for task in self.tasks})

    @classmethod
    def of(
        cls,
        tasks: Sequence[Task],
        *,
        ended: Mapping[str, End] = {},
        limit: int = 1,
        timeout: float = 0.0,
        began: float = 0.0,
    ) -> Schedule:
        """Return the schedule of `tasks`, some of which have `ended` before anything ran."""
        records = {task.key: Record(end=ended.get(task.key)) for task in tasks}
        return cls(tasks, records, limit, timeout, began)

    @property
    def over(self) -> bool:
        """Whether every task has ended."""
        return all(record.end is not None for record in self.records.values())

    def settled(self) -> Schedule:
        """Return it with all tasks ended that will not run, by what became of those upstream."""
        records = dict(self.records)
        for task in self.tasks:
            ends = [records[key].end for key in task.depends_on]
            if records[task.key].end is not None or records[task.key].attempt or None in ends:
                continue
            decided = fate(task.run_if, [_counts_as(records[key], task, key) for key in task.depends_on])
            if decided != "RUN":
                records[task.key] = replace(
                    records[task.key], end=End(decided, _reason(task, decided, records))
                )
        return replace(self, records=records)

    def ready(self, now: float) -> tuple[Task, ...]:
        """Return the tasks to start at `now`, in their order, as many as may run beside those that do."""
        free = self.limit - sum(record.running for record in self.records.values())
        waiting = [task for task in self.tasks if self._may_start(task, now)]
        return tuple(waiting[: max(0, free)])

    def _may_start(self, task: Task, now: float) -> bool:
        record = self.records[task.key]
        if record.end is not None or record.running or now < record.not_before:
            return False
        return all(self.records[key].end is not None for key in task.depends_on)

    def started(self, key: str, now: float) -> Schedule:
        """Return it with another attempt at the task `key` under way."""
        record = self.records[key]
        return self._with(key, replace(record, attempt=record.attempt + 1, began=now))

    def begins(self, key: str, now: float) -> Schedule:
        """Return it with the attempt at `key`, which was coming up until now, beginning only now."""
        return self._with(key, replace(self.records[key], began=now))

    def ended(self, key: str, end: End, now: float) -> Schedule:
        """Return it with the attempt at `key` ended; one that may be tried again waits instead."""
        task, record = self._by_key[key], self.records[key]
        seconds = record.seconds + (now - record.began if record.began is not None else 0.0)
        again = end.state == "FAILED" or (end.state == "TIMEDOUT" and task.retry_on_timeout)
        if again and (task.retries < 0 or record.attempt <= task.retries):
            waiting = replace(record, began=None, seconds=seconds, not_before=now + task.retry_after)
            return self._with(key, waiting)
        return self._with(key, replace(record, seconds=seconds, end=end))

    def overdue(self, now: float) -> tuple[str, ...]:
        """Return the running tasks whose time, or the whole run's, is over."""
        if self.timeout and now - self.began >= self.timeout:
            return tuple(key for key, record in self.records.items() if record.running)
        return tuple(
            task.key
            for task in self.tasks
            if task.timeout
            and (at := self.records[task.key]).running
            and now - (at.began or 0.0) >= task.timeout
        )

    def expired(self, now: float) -> bool:
        """Tell whether the time of the whole run is over."""
        return bool(self.timeout) and now - self.began >= self.timeout

    def canceled(self, reason: str, now: float) -> Schedule:
        """Return it with everything ended that has not: CANCELED, for `reason`."""
        records = {
            key: record
            if record.end is not None
            else replace(
                record,
                seconds=record.seconds + (now - record.began if record.began is not None else 0.0),
                end=End("CANCELED", reason),
            )
            for key, record in self.records.items()
        }
        return replace(self, records=records)

    @property
    def state(self) -> Literal["COMPLETED", "FAILED", "CANCELED"]:
        """How the run ended: the tasks on which no other depends decide, as on the platform."""
        ends = {key: record.end.state for key, record in self.records.items() if record.end is not None}
        if "CANCELED" in ends.values():
            return "CANCELED"
        upstream = {key for task in self.tasks for key in task.depends_on}
        leaves = {state for key, state in ends.items() if key not in upstream}
        return "FAILED" if leaves & {"FAILED", "TIMEDOUT", "SKIPPED"} else "COMPLETED"

    def _with(self, key: str, record: Record) -> Schedule:
        return replace(self, records={**self.records, key: record})


def _counts_as(record: Record, task: Task, key: str) -> Upstream:
    end = record.end
    assert end is not None
    if end.state in ("FAILED", "TIMEDOUT", "SKIPPED", "CANCELED"):
        return "failed"
    wanted = task.outcomes.get(key)
    if end.state == "UNTAKEN" or (wanted is not None and end.outcome is not None and end.outcome != wanted):
        return "untaken"
    return "succeeded"


def _reason(task: Task, decided: str, records: Mapping[str, Record]) -> str | None:
    if decided != "SKIPPED":
        return None
    failed = [key for key in task.depends_on if _counts_as(records[key], task, key) == "failed"]
    return f"It depends on {', '.join(failed)}, which did not succeed."
