"""Abort of an upload in parts, which databricks-sdk requests when it sends the file in one request instead.

There are no parts to remove (`files.initiate_upload`). Without these routes each upload of 50 MB and more
would log that it could not be aborted.
"""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.local_workspace import Route
from lakeward.workspace.context import ServerRequest

ABORT_PATH = "/api/2.0/lakeward/upload-parts"
"""Needs no token, as links of cloud storage: it does nothing."""


def create_link(call: ServerRequest) -> Any:
    """Return the link to which clients send the abort."""
    return {"abort_upload_url": {"url": f"{call.host}{ABORT_PATH}", "headers": []}}


def abort(_: ServerRequest) -> None:
    """Remove nothing."""


ROUTES = (
    Route("POST", "/api/2.0/fs/create-abort-upload-url", create_link),
    Route("DELETE", ABORT_PATH, abort),
)
