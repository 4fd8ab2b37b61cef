"""Rules on what tasks and pipelines run on: clusters, environments, wheels."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from lakeward.bundle.artifacts import artifacts_of
from lakeward.bundle.configuration.node import Path
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.rules.rule import Breach, Task, tasks
from lakeward.errors import BundleError
from lakeward.suggestions import unknown_name_hint

_CLUSTERS = ("new_cluster", "job_cluster_key", "existing_cluster_id")
_SINGLE_NODE = {
    "spark_conf": {"spark.databricks.cluster.profile": "singleNode", "spark.master": "local[*]"},
    "custom_tags": {"ResourceClass": "SingleNode"},
}
_NEED_ENVIRONMENT = ("python_wheel_task", "spark_python_task", "dbt_task")


def serverless_tasks(bundle: Bundle) -> Iterator[Breach]:
    """Yield tasks with both an environment and a cluster."""
    for task in tasks(bundle):
        cluster = next((name for name in _CLUSTERS if task.settings.get(name)), None)
        if cluster and task.settings.get("environment_key"):
            yield (
                (*task.path, cluster),
                f"{task.name} has an environment_key, so it is serverless, and {cluster}.",
            )


def serverless_pipelines(bundle: Bundle) -> Iterator[Breach]:
    """Yield serverless pipelines with clusters."""
    for key, pipeline in bundle.pipelines.items():
        if pipeline.get("serverless") is True and pipeline.get("clusters"):
            yield (
                ("resources", "pipelines", key, "clusters"),
                f"the pipeline {key} is serverless and has clusters.",
            )


def environment_needed(bundle: Bundle) -> Iterator[Breach]:
    """Python, wheel and dbt tasks without a cluster need an environment; notebooks do not."""
    for task in tasks(bundle):
        on_cluster = any(task.settings.get(name) for name in _CLUSTERS)
        kind = next((kind for kind in task.kinds if kind in _NEED_ENVIRONMENT), None)
        if kind and not on_cluster and not task.settings.get("environment_key"):
            yield (
                (*task.path, kind),
                f"{task.name} is a {kind} with neither an environment_key nor a cluster.",
            )


def unknown_environments(bundle: Bundle) -> Iterator[Breach]:
    """Yield environment keys that the job does not define."""
    for task in tasks(bundle):
        yield from _unknown(bundle, task, "environment_key", "environments")


def job_clusters(bundle: Bundle) -> Iterator[Breach]:
    """Yield job cluster keys that the job does not define."""
    for task in tasks(bundle):
        yield from _unknown(bundle, task, "job_cluster_key", "job_clusters")


def single_nodes(bundle: Bundle) -> Iterator[Breach]:
    """Yield clusters without workers that lack a setting of single-node clusters.

    A policy may add the settings, and `is_single_node` does.
    """
    for path, cluster in _clusters(bundle):
        if cluster.get("num_workers") != 0 or cluster.get("policy_id") or cluster.get("is_single_node"):
            continue
        missing = [
            f"{section}.{name}: {value}"
            for section, settings in _SINGLE_NODE.items()
            for name, value in settings.items()
            if not _has_setting(cluster, section, name, value)
        ]
        if missing:
            yield (*path, "num_workers"), f"the cluster has num_workers: 0 and lacks {', '.join(missing)}."


def _has_setting(cluster: Mapping[str, Any], section: str, name: str, value: str) -> bool:
    setting = (cluster.get(section) or {}).get(name)
    # `local[*, 4]` is a single node, too.
    return str(setting).startswith("local") if name == "spark.master" else setting == value


def _clusters(bundle: Bundle) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the definitions of clusters in jobs, tasks, pipelines and resources."""
    found: list[tuple[Path, Any]] = []
    for key, job in bundle.jobs.items():
        for number, each in enumerate(job.get("job_clusters") or ()):
            path: Path = ("resources", "jobs", key, "job_clusters", number, "new_cluster")
            found.append((path, each.get("new_cluster")))
    found += [((*task.path, "new_cluster"), task.settings.get("new_cluster")) for task in tasks(bundle)]
    for key, pipeline in bundle.pipelines.items():
        for number, each in enumerate(pipeline.get("clusters") or ()):
            found.append((("resources", "pipelines", key, "clusters", number), each))
    for key, cluster in bundle.resources("clusters").items():
        found.append((("resources", "clusters", key), cluster))
    yield from ((path, cluster) for path, cluster in found if isinstance(cluster, Mapping))


def _unknown(bundle: Bundle, task: Task, key: str, section: str) -> Iterator[Breach]:
    key_name = task.settings.get(key)
    known = [str(each.get(key)) for each in bundle.jobs[task.job].get(section) or ()]
    if key_name and str(key_name) not in known:
        hint = (
            unknown_name_hint(str(key_name), known, what=section) if known else f"The job has no {section}."
        )
        yield (*task.path, key), f"{task.name} names the {key} `{key_name}`. {hint}"


def wheels(bundle: Bundle) -> Iterator[Breach]:
    """Yield local wheels that do not exist and that no artifact builds."""
    built = {
        posixpath.normpath(posixpath.join(_relative(bundle, artifact.folder), pattern))
        for artifact in artifacts_of(bundle)
        if artifact.command is not None or _is_project(artifact.folder) or artifact.files()
        for pattern in artifact.patterns
    }
    folders = {posixpath.dirname(pattern) for pattern in built}
    for path, wheel in _local_wheels(bundle):
        name = posixpath.normpath(wheel.split("[")[0])
        if name not in built and posixpath.dirname(name) not in folders and not any(bundle.root.glob(name)):
            yield path, f"the wheel `{wheel}` does not exist, and no artifact of the bundle builds it."


def entry_points(bundle: Bundle) -> Iterator[Breach]:
    """Yield entry points that the wheel of an artifact does not have."""
    for task in tasks(bundle):
        spec = task.settings.get("python_wheel_task")
        if not isinstance(spec, Mapping):
            continue
        package, name = str(spec.get("package_name") or ""), str(spec.get("entry_point") or "")
        try:
            distribution = bundle.distribution(package)
        except BundleError:
            continue  # a package from an index, whose content is unknown
        if name not in distribution.entry_points:
            hint = unknown_name_hint(name, distribution.entry_points, what="entry points")
            yield (
                (*task.path, "python_wheel_task", "entry_point"),
                f"{task.name} calls `{name}` of {package}. {hint}",
            )


def _local_wheels(bundle: Bundle) -> Iterator[tuple[Path, str]]:
    for key, job in bundle.jobs.items():
        top: Path = ("resources", "jobs", key)
        for number, environment in enumerate(job.get("environments") or ()):
            where = (*top, "environments", number, "spec", "dependencies")
            yield from _wheels((environment.get("spec") or {}).get("dependencies"), where)
    for task in tasks(bundle):
        for number, library in enumerate(task.settings.get("libraries") or ()):
            if isinstance(library, Mapping) and library.get("whl"):
                yield from _wheels([library["whl"]], (*task.path, "libraries", number))
    for key, pipeline in bundle.pipelines.items():
        where = ("resources", "pipelines", key, "environment", "dependencies")
        yield from _wheels((pipeline.get("environment") or {}).get("dependencies"), where)


def _wheels(dependencies: Any, path: Path) -> Iterator[tuple[Path, str]]:
    for number, each in enumerate(dependencies or ()):
        text = str(each)
        if text.split("[", maxsplit=1)[0].endswith(".whl") and not text.startswith(
            ("/", "dbfs:", "http:", "https:", "s3:")
        ):
            yield (*path, number), text


def _is_project(folder: FilePath) -> bool:
    # A wheel's artifact without a command is built from these.
    return any((folder / name).is_file() for name in ("pyproject.toml", "setup.py"))


def _relative(bundle: Bundle, folder: object) -> str:
    return posixpath.relpath(str(folder), str(bundle.root))
