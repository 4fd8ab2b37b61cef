"""What a run has selected, reports and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from lakeward.pipelines import DatasetResult, Progress, Update


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
    """A change of a task's state; `seconds` is its run time so far, `update` the update of its pipeline.

    `message` is why the last attempt failed, and when the next one starts.
    """

    task_key: str
    state: Literal[
        "RUNNING", "WAITING_FOR_RETRY", "SUCCESS", "FAILED", "SKIPPED", "CANCELED", "EXCLUDED", "CHECKED"
    ]
    seconds: float = 0.0
    timed_out: bool = False
    update: Update | None = None
    message: str = ""


RunEvent: TypeAlias = "TaskProgress | Progress"
"""What happens during a run: a step of a task, or of the update of a pipeline."""


@dataclass(frozen=True)
class TaskResult:
    """The result of a task.

    `update` is set for tasks that ran a pipeline, `trace` if user code raised. A task that exceeded its
    timeout is FAILED and has `timed_out`.
    """

    task_key: str
    state: Literal["SUCCESS", "FAILED", "SKIPPED", "CANCELED", "EXCLUDED", "CHECKED"]
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
