"""Which runtime a bundle's jobs and pipelines run on: what they say of their compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.bundle.includes import find_root
from lakeward.bundle.load import load
from lakeward.bundle.model import Bundle
from lakeward.errors import BundleError
from lakeward.session import known

__all__ = ["runtime_here", "runtime_of"]

SERVERLESS = "serverless"
# Tasks that run code of the user's, on compute that the task or its job names.
_CODE = ("notebook_task", "python_wheel_task", "spark_python_task")


def runtime_here(folder: Path) -> str | None:
    """The runtime of the bundle that `folder` lies in; None without one, or where it names none.

    A bundle that cannot be read is no reason for tests of other things to fail: it names none.
    """
    root = find_root(folder)
    found = None
    if root is not None:
        with suppress(BundleError):
            found = known(runtime_of(load(root, None, {})) or "")
    return found.name if found else None


def runtime_of(bundle: Bundle, key: str | None = None) -> str | None:
    """The runtime (`serverless`, `17.3.x-scala2.13`) of the job or pipeline `key`, else of the bundle.

    A bundle's is that of its first pipeline which says so, else of its first job: with several, the one
    that `key` names decides. None where nothing says it.
    """
    if key is not None and key in bundle.pipelines:
        return _of_pipeline(bundle.pipelines[key])
    if key is not None and key in bundle.jobs:
        return next(_of_job(bundle.jobs[key]), None)
    of_pipelines = (_of_pipeline(pipeline) for pipeline in bundle.pipelines.values())
    of_jobs = (next(_of_job(job), None) for job in bundle.jobs.values())
    return next((found for each in (of_pipelines, of_jobs) for found in each if found), None)


def _of_pipeline(pipeline: Mapping[str, Any]) -> str | None:
    # A classic pipeline's runtime is its channel's, which has no number.
    return SERVERLESS if pipeline.get("serverless") is True else None


def _of_job(job: Mapping[str, Any]) -> Iterator[str]:
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
