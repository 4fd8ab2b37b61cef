"""Standard folders of a workspace: /Shared, /Users with homes, /Repos; /tmp and others in DBFS."""

from __future__ import annotations

from pathlib import Path

from lakeward.databricks_shims.local_workspace.api_request import ApiRequest

STANDARD_FOLDERS = ("Shared", "Users", "Repos")
_DBFS = ("FileStore", "tmp", "user")


def make_standard_folders(call: ApiRequest) -> None:
    """Create what a client expects to find below `/Workspace` before anything was written."""
    root = call.environment.settings().workspace
    is_new = not (root / "Users").is_dir()
    for name in STANDARD_FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    if is_new:
        make_home(call, call.owner)


def make_home(call: ApiRequest, user: str) -> None:
    """Create the home folder of a user."""
    if user and Path(user).name == user:
        (call.environment.settings().workspace / "Users" / user).mkdir(parents=True, exist_ok=True)


def make_dbfs_folders(call: ApiRequest) -> None:
    """Create the folders that the root of DBFS has."""
    root = call.environment.settings().dbfs
    for name in _DBFS:
        (root / name).mkdir(parents=True, exist_ok=True)
