"""Running the jobs and pipelines of a bundle on this machine (spec bundle.md §4, jobs).

`run` carries out a job, `run_pipeline` one pipeline; both make the schemas and volumes of the bundle exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.on_demand import from_modules

if TYPE_CHECKING:
    from lakeward.jobs.definition import tasks_of
    from lakeward.jobs.history import KEPT_DAYS, is_kept
    from lakeward.jobs.memory import free_memory
    from lakeward.jobs.model import JobRun, TaskProgress, TaskResult
    from lakeward.jobs.pipelines import run_pipeline, sources
    from lakeward.jobs.references import Origin
    from lakeward.jobs.running import run
    from lakeward.jobs.tasks import COMPOSITES, KINDS, REFUSED
    from lakeward.jobs.waiting import Waiting
    from lakeward.jobs.wheels import built_wheels

__all__ = [
    "COMPOSITES",
    "KEPT_DAYS",
    "KINDS",
    "REFUSED",
    "JobRun",
    "Origin",
    "TaskProgress",
    "TaskResult",
    "Waiting",
    "built_wheels",
    "free_memory",
    "is_kept",
    "run",
    "run_pipeline",
    "sources",
    "tasks_of",
]

# A process of a task is started while all the rest is still being imported.
__getattr__ = from_modules(
    __name__,
    {
        "definition": ["tasks_of"],
        "history": ["KEPT_DAYS", "is_kept"],
        "memory": ["free_memory"],
        "model": ["JobRun", "TaskProgress", "TaskResult"],
        "pipelines": ["run_pipeline", "sources"],
        "references": ["Origin"],
        "running": ["run"],
        "tasks": ["COMPOSITES", "KINDS", "REFUSED"],
        "waiting": ["Waiting"],
        "wheels": ["built_wheels"],
    },
)
