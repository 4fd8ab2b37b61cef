"""What a task kind may use to carry out a task."""

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


# Carries out one task; raises when it fails. What it returns is the update of a pipeline, if it ran one.
Action = Callable[[], "Update | None"]


@dataclass(frozen=True)
class Context:
    """A run as its tasks see it; `stdout` is where their output goes when it may not go to ours.

    `task_values` is what tasks hand to later ones, by task and key; `wheels` are the folders into which built
    wheels were unpacked, by the project's name: without one its sources are used.
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
        """Where the modules of `distribution` are imported from."""
        unpack_wheels = self.wheels.get(distribution.name)
        return (unpack_wheels,) if unpack_wheels is not None else distribution.source_folders


# Checks a task before anything runs and returns its action, or None when a dry run has nothing to do for it.
Prepare = Callable[[Context, Task], "Action | None"]
