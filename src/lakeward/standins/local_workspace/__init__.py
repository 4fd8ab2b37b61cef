"""The part of the workspace's REST surface that needs nothing but the state folder.

Secrets, files, DBFS, volumes, workspace files and the current user. A client without credentials is answered
with it in this process (`respond`, `adapter`), where every other path gives an error that names
`lakeward workspace`; that server answers the same routes with the same functions.
"""

from __future__ import annotations

from lakeward.standins.local_workspace.adapter import HOST, adapter
from lakeward.standins.local_workspace.call import Answer, Call, Failure, missing
from lakeward.standins.local_workspace.routes import ROUTES, Handler, Route, Table, answered, respond
from lakeward.standins.local_workspace.users import groups_of
from lakeward.standins.local_workspace.workspace_files import CONNECTION

__all__ = [
    "CONNECTION",
    "HOST",
    "ROUTES",
    "Answer",
    "Call",
    "Failure",
    "Handler",
    "Route",
    "Table",
    "adapter",
    "answered",
    "groups_of",
    "missing",
    "respond",
]
