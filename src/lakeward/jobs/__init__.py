"""Runs jobs and pipelines of a bundle.

`run` executes a job, `run_pipeline` one pipeline. Both create the schemas and volumes of the bundle first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from lakeward.jobs.alert_condition import ALERT_ERROR, ALERT_UNKNOWN, alert_state
    from lakeward.jobs.concurrency import free_memory
    from lakeward.jobs.definition import library_lines, tasks_of
    from lakeward.jobs.dynamic_values import RunTrigger
    from lakeward.jobs.packages import map_workspace_paths, require_packages
    from lakeward.jobs.pipeline_sources import sources
    from lakeward.jobs.pipelines import run_pipeline
    from lakeward.jobs.run_history import RETENTION_DAYS, can_repair
    from lakeward.jobs.run_results import JobRun, PipelineSelection, RunEvent, TaskProgress, TaskResult
    from lakeward.jobs.runner import RunListeners, RunOptions, run
    from lakeward.jobs.task_kinds import COMPOSITES, KINDS, REFUSED
    from lakeward.jobs.task_process import PrestartedWorker
    from lakeward.jobs.wheels import build_wheels

# Loaded on first use: worker processes start while the other modules are imported.
__getattr__ = lazy_exports(__name__, __file__)
