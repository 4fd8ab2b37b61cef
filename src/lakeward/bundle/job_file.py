"""Read a file with job definitions as a bundle that contains nothing else.

Two forms: the settings of one job, as the Jobs API takes them (`name`, `tasks` …) or gives them back
(`job_id`, `settings`), and the `resources: jobs:` of a bundle, as the workspace exports them.
Source: https://docs.databricks.com/api/workspace/jobs/create and …/dev-tools/bundles/job-task-types
"""

from __future__ import annotations

import re
from pathlib import Path

from lakeward.bundle.configuration.field_types import FIELD_TYPE
from lakeward.bundle.configuration.includes import read_file, require_unique
from lakeward.bundle.configuration.node import Node, failure, lift
from lakeward.bundle.configuration.yaml_reader import parse
from lakeward.bundle.loader import ResolutionOptions, resolve_bundle
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.errors import BundleError
from lakeward.suggestions import unknown_name_hint

_SUFFIXES = (".json", ".yml", ".yaml")
# Older than jobs of several tasks; the API still takes them.
_SINGLE = ("notebook_task", "spark_python_task", "python_wheel_task", "spark_jar_task", "spark_submit_task")


def is_job_file(name: str) -> bool:
    """Return whether `name`, passed instead of a key, names a file: `job.json`, `jobs.yml:nightly`.

    >>> [is_job_file(name) for name in ("daily", "job.json", "jobs.yml:nightly")]
    [False, True, True]
    """
    return name.endswith(_SUFFIXES) or name.rpartition(":")[0].endswith(_SUFFIXES)


def defines_jobs(file: Path) -> bool:
    """Return whether `file` has the shape of a job or of a bundle's `resources: jobs:`.

    Only then is a mistake in it one of a job: other programs have files with `notebook_task` in them, too.
    Raises BundleError(YAML_INVALID), OSError and UnicodeDecodeError.
    """
    content = parse(file.read_text("utf-8"), file.name)
    if "resources" in content.children:
        return bool(content.section("resources", "jobs").children)
    settings = content.get("settings") or content
    tasks = settings.get("tasks")
    is_list = tasks is not None and isinstance(tasks.value, list)
    return is_list or any(each in settings.children for each in _SINGLE)


def load_jobs(file: Path, *, user: str) -> Bundle:
    """Return the jobs of `file` as a bundle in its folder, with the target `local`.

    Relative paths are meant from the file's folder and may leave it. Raises BundleError: FILE_UNREADABLE,
    YAML_INVALID, JOB_FILE_INVALID with file, line and column, and what a bundle's references refuse.
    """
    if not file.is_file():
        there = "is a folder" if file.is_dir() else "is not there"
        raise BundleError(
            "FILE_UNREADABLE",
            f"The job file {file} {there}.",
            next_step="Name a file with the settings of a job, in JSON or YAML.",
        )
    root = file.resolve().parent
    content = read_file(root / file.name, root)
    place = content.position
    name = lift({"name": _key_of(file)}, place)
    tree = Node({"bundle": name, "resources": _resources(content, file)}, place, repeated=content.repeated)
    require_unique(tree)
    options = ResolutionOptions(root=root, user=user, is_confined=False, only_target="local")
    bundle = resolve_bundle(tree, options)
    # The Jobs API refuses what a bundle ignores.
    for notice in bundle.notices:
        if notice.rule == FIELD_TYPE and notice.position is not None:
            message = notice.message.removesuffix(" The value is ignored.")
            raise failure("JOB_FILE_INVALID", notice.position, message, next_step=notice.cure)
    return bundle


def only_job(bundle: Bundle, file: str, key: str | None) -> str:
    """Return the job that is meant: `key`, else the only one. Raises BundleError(KEY_UNKNOWN)."""
    if key is not None:
        if key in bundle.jobs:
            return key
        message = f"{file} has no job `{key}`."
        raise BundleError("KEY_UNKNOWN", message, next_step=unknown_name_hint(key, bundle.jobs, what="jobs"))
    if len(bundle.jobs) == 1:
        return next(iter(bundle.jobs))
    names = ", ".join(bundle.jobs)
    raise BundleError(
        "KEY_UNKNOWN",
        f"{file} has {len(bundle.jobs)} jobs: {names}.",
        next_step=f"Name one of them: {file}:{next(iter(bundle.jobs))}",
    )


def _resources(content: Node, file: Path) -> Node:
    place = content.position
    if "resources" in content.children:
        resources = content.children["resources"]
        if not resources.section("jobs").children:
            raise failure("JOB_FILE_INVALID", resources.position, "`resources` has no `jobs`.")
        return resources
    settings = content.get("settings") or content
    if settings.get("tasks") is None:
        raise _no_job(settings)
    if not isinstance(settings.children["tasks"].value, list):
        position = settings.children["tasks"].position
        raise failure("JOB_FILE_INVALID", position, "`tasks` has to be a list of tasks.")
    return Node({"jobs": Node({_key_of(file): settings}, place)}, place)


def _no_job(settings: Node) -> BundleError:
    old = next((name for name in _SINGLE if name in settings.children), None)
    if old is not None:
        message = f"`{old}` is a top-level key, as in version 2.0 of the Jobs API."
        next_step = f"Put it into a list: tasks: [{{task_key: main, {old}: …}}]"
        return failure("JOB_FILE_INVALID", settings.children[old].position, message, next_step=next_step)
    has = ", ".join(list(settings.children)[:6]) or "nothing"
    return failure(
        "JOB_FILE_INVALID",
        settings.position,
        f"this is not a job: it has {has}, and neither `tasks` nor `resources: jobs:`.",
        next_step="`databricks jobs get JOB_ID` prints a job as it is expected here.",
    )


def _key_of(file: Path) -> str:
    """Return the key for a file: `nightly` for `nightly.job.yml`."""
    stem = re.sub(r"(\.job)?\.(json|ya?ml)$", "", file.name)
    return re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_") or "job"
