"""The runtime of a bundle's jobs and pipelines, from the definition of their compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.bundle.configuration.includes import find_root
from lakeward.bundle.loader import load_statically, targets_to_read
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.errors import BundleError
from lakeward.session import find_profile

SERVERLESS = "serverless"
# Tasks that run code of the user's, on compute that the task or its job names.
_CODE = ("notebook_task", "python_wheel_task", "spark_python_task")


def runtime_here(folder: Path) -> str | None:
    """Return the runtime of the bundle around `folder`; None without a bundle, or where it names none.

    Without a default target, the first target that names a runtime decides. A variable without a value and a
    target that cannot be read name none, so that tests of other code still run.
    """
    root = find_root(folder)
    if root is None:
        return None
    names: tuple[str, ...] = ()
    with suppress(BundleError):
        names = targets_to_read(root)
    for name in names:
        with suppress(BundleError):
            found = find_profile(runtime_of(load_statically(root, name)) or "")
            if found is not None:
                return found.name
    return None


def runtime_of(bundle: Bundle, key: str | None = None) -> str | None:
    """Return the runtime (`serverless`, `17.3.x-scala2.13`) of the job or pipeline `key`, else of the bundle.

    For the bundle it is the runtime of the first job that names a cluster, also if other jobs and pipelines
    are serverless: code of that job may use what serverless compute refuses. None if no runtime is set.
    """
    if key is not None and key in bundle.pipelines:
        return _pipeline_runtime(bundle.pipelines[key])
    if key is not None and key in bundle.jobs:
        return next(_job_runtimes(bundle.jobs[key]), None)
    of_jobs = [runtime for job in bundle.jobs.values() for runtime in _job_runtimes(job)]
    of_pipelines = [_pipeline_runtime(pipeline) for pipeline in bundle.pipelines.values()]
    named = [runtime for runtime in (*of_jobs, *of_pipelines) if runtime]
    return next((runtime for runtime in named if runtime != SERVERLESS), SERVERLESS if named else None)


def _pipeline_runtime(pipeline: Mapping[str, Any]) -> str | None:
    # A classic pipeline has the runtime of its channel, which has no number.
    return SERVERLESS if pipeline.get("serverless") is True else None


def _job_runtimes(job: Mapping[str, Any]) -> Iterator[str]:
    clusters = {c.get("job_cluster_key"): c.get("new_cluster") or {} for c in job.get("job_clusters") or ()}
    for task in job.get("tasks") or ():
        if task.get("environment_key"):
            yield SERVERLESS
        elif any(task.get(kind) for kind in _CODE):
            cluster = task.get("new_cluster") or clusters.get(task.get("job_cluster_key"))
            if cluster and cluster.get("spark_version"):
                yield str(cluster["spark_version"])
            elif not (cluster or task.get("existing_cluster_id")):
                # Without a cluster, code runs on serverless compute.
                yield SERVERLESS
    yield from (str(each["spark_version"]) for each in clusters.values() if each.get("spark_version"))
