"""What the server and the process of a run exchange as JSON: the order of the run, and messages about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from lakeward.workspace.state.store import Document


class RunOrigin(TypedDict):
    """The facts about a job's run that its tasks can refer to, as in `RunTrigger`; `at`: milliseconds."""

    kind: str
    at: int
    location: str
    workspace_id: str
    workspace_url: str
    task_runs: Mapping[str, str]


class _Order(TypedDict):
    kind: Literal["job", "pipeline"]
    bundle: str
    pipelines: dict[str, Document]
    flags: Mapping[str, Any]
    cluster: Mapping[str, Any]


class RunOrder(_Order, total=False):
    """The definitions that a run or an update needs, with workspace paths resolved to local ones.

    `settings` are those of the lakehouse. The other fields are of jobs: `jobs` begins with the one to run,
    `ids` has the ids of resources by kind and key, `only` are the tasks of a repair.
    """

    settings: Document
    run_id: str
    jobs: dict[str, Document]
    alerts: dict[str, Document]
    dashboards: dict[str, Document]
    ids: Mapping[str, Mapping[str, int | str]]
    parameters: Mapping[str, str]
    only: Sequence[str]
    origin: RunOrigin
    repair: bool


class PipelineStep(TypedDict):
    """A step of a task's update; `pipeline` is an id, `progress` has the fields of `Progress`."""

    task: str
    pipeline: str
    progress: Document


class RunMessage(TypedDict, total=False):
    """One message of the process: a secret, output, a task's state, a step of an update, or the result.

    A state has `task`, `state`, `seconds` and the task's `update`; an output has its `task`. `progress` is a
    step of an update that is not of a job.
    """

    secret: str
    output: str
    task: str
    state: str
    seconds: float
    update: Document | None
    step: PipelineStep
    progress: Document
    result: Document


Emit = Callable[[RunMessage], None]
"""Receives the messages of a run."""
