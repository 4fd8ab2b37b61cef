"""The part of the workspace's REST surface that a client without credentials is answered with.

Secrets, files, DBFS, volumes, workspace files and the current user, straight from the state folder; every
other path is answered with an error that names `lakeward workspace`.
"""

from __future__ import annotations

from lakeward.standins.local_workspace.adapter import HOST, adapter
from lakeward.standins.local_workspace.routes import ROUTES, respond

__all__ = ["HOST", "ROUTES", "adapter", "respond"]
