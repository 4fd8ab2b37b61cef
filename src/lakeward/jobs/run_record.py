"""What a run's report shows of its tasks: graph, attempts and times, stored with the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.bundle import Bundle
from lakeward.jobs.definition import Task
from lakeward.jobs.model import TaskResult
from lakeward.jobs.task_state import TaskGraphState, TaskState


def task_records(state: TaskGraphState, bundle: Bundle) -> list[dict[str, Any]]:
    """Return kind, dependencies, attempts and begin of each task; it is in seconds since the run's begin."""
    return [_task_record(task, state.tasks_by_key[task.key], state.began, bundle) for task in state.tasks]


def task_progress(state: TaskGraphState, results: Sequence[TaskResult]) -> list[dict[str, Any]]:
    """Return state, seconds and error of each task of a run that has not ended."""
    return [
        {
            "task_key": result.task_key,
            "state": result.state if each.end else "RUNNING" if each.running else "QUEUED",
            "seconds": round(each.seconds, 3),
            "error": result.error if each.end else None,
        }
        for result in results
        for each in (state.tasks_by_key[result.task_key],)
    ]


def _task_record(task: Task, record: TaskState, began: float, bundle: Bundle) -> dict[str, Any]:
    found: dict[str, Any] = {
        "task_key": task.key,
        "kind": task.kind,
        "depends_on": list(task.depends_on),
        "attempts": record.attempt,
        "began": None if record.began is None else round(record.began - began, 3),
    }
    end = record.end
    if end is not None and end.outcome is not None:
        found["outcome"] = end.outcome
    if task.kind == "pipeline_task":
        found["pipeline"] = bundle.key_of("pipelines", task.spec.get("pipeline_id"))
        found["update_id"] = end.update.update_id if end is not None and end.update is not None else None
    return found
