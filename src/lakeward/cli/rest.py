"""The REST API of a workspace, through databricks-sdk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lakeward.errors import JobError

__all__ = ["Rest"]


class Rest:
    """One workspace, asked with one token."""

    def __init__(self, host: str, token: str) -> None:
        from databricks.sdk import WorkspaceClient

        self._client = WorkspaceClient(host=host, token=token, auth_type="pat").api_client
        self.user = str(self.ask("GET", "/api/2.0/preview/scim/v2/Me")["userName"])

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer.

        Raises LookupError for what is not there, FileExistsError for what is there already, JobError for
        what was refused.
        """
        from databricks.sdk.errors import NotFound
        from databricks.sdk.errors.base import DatabricksError

        try:
            return self._client.do(method, path, body=dict(body) if body is not None else None)
        except NotFound as error:
            raise LookupError(str(error)) from None
        except DatabricksError as error:
            if str(error.error_code).endswith("ALREADY_EXISTS"):
                raise FileExistsError(str(error)) from None
            raise JobError(str(error.error_code or "WORKSPACE_ERROR"), str(error)) from None

    def upload(self, path: str, content: bytes) -> None:
        """Write a file, and the folders above it."""
        self.ask("POST", "/api/2.0/workspace/mkdirs", {"path": path.rpartition("/")[0]})
        name = quote(path.removeprefix("/"), safe="")
        route = f"/api/2.0/workspace-files/import-file/{name}"
        self._client.do("POST", route, query={"overwrite": "true"}, data=content)

    def download(self, path: str) -> bytes:
        """The content of a file."""
        from databricks.sdk.errors import NotFound

        query = {"path": path, "direct_download": "true"}
        try:
            found = self._client.do("GET", "/api/2.0/workspace/export", query=query, raw=True)
        except NotFound as error:
            raise LookupError(str(error)) from None
        with found["contents"] as stream:
            return bytes(stream.read())
