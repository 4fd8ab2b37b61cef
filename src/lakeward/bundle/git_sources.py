"""Tasks whose files come from a Git repository, and the checkout that a folder is in.

Sources: `source` of the tasks and `git_source` of the job in the Jobs API; databricks/cli#404 for paths.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_COMMANDS = {
    "branch": ("symbolic-ref", "--short", "-q", "HEAD"),
    "commit": ("rev-parse", "--verify", "-q", "HEAD"),
    "origin_url": ("config", "--get", "remote.origin.url"),
    "bundle_root_path": ("rev-parse", "--show-prefix"),
    "top": ("rev-parse", "--show-toplevel"),
}
_SECONDS = 10


def is_from_git(job: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    """Return whether a task's file is in a Git repository; `source` decides, without it a `git_source`.

    Its path is relative to the root of that repository.
    """
    source = spec.get("source")
    return bool(source == "GIT" or (not source and job.get("git_source")))


def read_checkout(folder: Path, field: str) -> str:
    """Return a property of the checkout that `folder` is in.

    `field` is one of `branch`, `commit`, `origin_url`, `bundle_root_path` (the folder, relative to the
    checkout) and `top` (the folder of the checkout). Without a checkout or without Git it is empty.
    """
    text = ""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            ["git", *_COMMANDS[field]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            text=True,
        )
        text = done.stdout.strip() if done.returncode == 0 else ""
    return (text.rstrip("/") or ".") if field == "bundle_root_path" else text
