"""The folder of a task's files: the bundle, or for files from Git the checkout that the bundle is in.

On the platform a run clones the job's `git_source`. A job is mostly defined in the repository that it names,
so its files here are those of the working tree, whatever branch, tag or commit the job names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.bundle import is_from_git, read_checkout
from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task


def folder_of_files(root: Path, job: Mapping[str, Any], task: Task, spec: Mapping[str, Any]) -> Path:
    """Return the folder that the paths of a task are relative to.

    Args:
        root: The bundle's folder.
        job: The job's settings.
        task: The task.
        spec: The settings with `source`: those of the task, or of the file of a SQL task.

    Raises:
        ConfigurationError: TASK_INVALID without a repository, TASK_NOT_SUPPORTED for another one.
    """
    if not is_from_git(job, spec):
        return root
    url = str((job.get("git_source") or {}).get("git_url") or "")
    if not url:
        message = f"The task `{task.key}` takes its file from Git, and the job names no repository."
        raise ConfigurationError("TASK_INVALID", message, next_step="git_source of the job has its git_url.")
    origin = read_checkout(root, "origin_url")
    # A fork has another owner, and a clone may use another protocol.
    if origin and _name(origin) != _name(url):
        message = (
            f"The task `{task.key}` takes its file from the Git repository {_shown(url)}, and this folder is "
            f"in a checkout of {_shown(origin)}."
        )
        next_step = f"Run the job in a clone of the repository: git clone {_shown(url)}."
        raise ConfigurationError("TASK_NOT_SUPPORTED", message, next_step=next_step)
    top = read_checkout(root, "top")
    return Path(top) if top else root


def _name(url: str) -> str:
    return re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git").lower()


def _shown(url: str) -> str:
    """Return the address without user and password."""
    return re.sub(r"(?<=://)[^/@]*@", "", url)
