"""What is stored of the tasks of a run for its report, before and after its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from lakeward.bundle import Bundle
from lakeward.jobs.definition import Task
from lakeward.jobs.run_results import TaskResult
from lakeward.jobs.task_graph import TaskGraphState, TaskState


class _Record(TypedDict):
    task_key: str
    kind: str
    depends_on: list[str]
    attempts: int
    began: float | None


class TaskRecord(_Record, total=False):
    """A task in its run: `began` is in seconds since the begin of the run.

    Conditions and notebooks have an `outcome`; tasks of pipelines the key of the pipeline, and the update.
    """

    outcome: str
    pipeline: str | None
    update_id: str | None


class TaskSituation(TypedDict):
    """The situation of a task while its run goes; `seconds` is its time so far."""

    task_key: str
    state: str
    seconds: float
    error: str | None


class RunProgress(TypedDict):
    """A run that has not ended, with the fields of a stored run."""

    state: str
    started: str
    seconds: float
    parameters: dict[str, str]
    tasks: list[TaskSituation]
    records: list[TaskRecord]


def run_progress(
    state: TaskGraphState,
    results: Sequence[TaskResult],
    bundle: Bundle,
    *,
    started: datetime,
    seconds: float,
    parameters: Mapping[str, str],
) -> RunProgress:
    """Return the progress of a run.

    Args:
        state: Its tasks.
        results: Their results so far, in order.
        bundle: The bundle of the job.
        started: When it began.
        seconds: Its time so far.
        parameters: Its parameters.
    """
    return {
        "state": "RUNNING",
        "started": started.isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 3),
        "parameters": dict(parameters),
        "tasks": [_situation(result, state.states[result.task_key]) for result in results],
        "records": task_records(state, bundle),
    }


def task_records(state: TaskGraphState, bundle: Bundle) -> list[TaskRecord]:
    """Return the record of each task."""
    return [_task_record(task, state.states[task.key], state.began, bundle) for task in state.tasks]


def _situation(result: TaskResult, task: TaskState) -> TaskSituation:
    return {
        "task_key": result.task_key,
        "state": result.state if task.end else "RUNNING" if task.running else "QUEUED",
        "seconds": round(task.seconds, 3),
        "error": result.error if task.end else None,
    }


def _task_record(task: Task, state: TaskState, began: float, bundle: Bundle) -> TaskRecord:
    found: TaskRecord = {
        "task_key": task.key,
        "kind": task.kind,
        "depends_on": list(task.depends_on),
        "attempts": state.attempt,
        "began": None if state.began is None else round(state.began - began, 3),
    }
    end = state.end
    if end is not None and end.outcome is not None:
        found["outcome"] = end.outcome
    if task.kind == "pipeline_task":
        found["pipeline"] = bundle.key_of("pipelines", task.spec.get("pipeline_id"))
        found["update_id"] = end.update.update_id if end is not None and end.update is not None else None
    return found
