"""Running the jobs and pipelines of a bundle on this machine (spec bundle.md §4, jobs).

`run` carries out a job, `run_pipeline` one pipeline; both make the schemas and volumes of the bundle exist.
"""

from lakeward.jobs.definition import tasks_of
from lakeward.jobs.history import KEPT_DAYS, is_kept
from lakeward.jobs.model import JobRun, TaskProgress, TaskResult
from lakeward.jobs.pipelines import run_pipeline, sources
from lakeward.jobs.run import run
from lakeward.jobs.tasks import COMPOSITES, KINDS, REFUSED
from lakeward.jobs.wheels import built_wheels

__all__ = [
    "COMPOSITES",
    "KEPT_DAYS",
    "KINDS",
    "REFUSED",
    "JobRun",
    "TaskProgress",
    "TaskResult",
    "built_wheels",
    "is_kept",
    "run",
    "run_pipeline",
    "sources",
    "tasks_of",
]
