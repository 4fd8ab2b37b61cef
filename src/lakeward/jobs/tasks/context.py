"""The context in which tasks run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.bundle import Bundle, Distribution
from lakeward.jobs.definition import Task
from lakeward.jobs.model import PipelineSelection

if TYPE_CHECKING:
    from lakeward.pipelines import Update
    from lakeward.session import Settings


# Runs one task; raises if it fails. Returns the update if the task ran a pipeline.
Action = Callable[[], "Update | None"]


@dataclass(frozen=True)
class Context:
    """The run that a task belongs to.

    `stdout` receives the task's output if it must not go to the process's own. `task_values` holds values
    that tasks set for later ones, by task and key. `wheels` holds the folders with unpacked wheels, by
    project name; a project without one is imported from its sources.
    """

    bundle: Bundle
    settings: Settings
    job: Mapping[str, Any]
    parameters: Mapping[str, str]
    selection: PipelineSelection
    stdout: TextIO | None = None
    on_event: Callable[[Any], None] | None = None
    job_id: str | None = None
    run_id: str | None = None
    task_values: MutableMapping[tuple[str, str], str] = field(default_factory=dict)
    wheels: Mapping[str, Path] = field(default_factory=dict)

    def folders_of(self, distribution: Distribution) -> tuple[Path, ...]:
        """Return the folders from which the modules of `distribution` are imported."""
        unpack_wheels = self.wheels.get(distribution.name)
        return (unpack_wheels,) if unpack_wheels is not None else distribution.source_folders


# Validates a task before the run and returns its action, or None if a dry run has nothing to do for it.
Prepare = Callable[[Context, Task], "Action | None"]
