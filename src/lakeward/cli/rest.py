"""The REST API of a workspace, through databricks-sdk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from lakeward.errors import JobError

__all__ = ["Rest"]


# A server of this machine that does not answer for so long is gone.
_PATIENCE_SECONDS = 15


class Rest:
    """Client of one workspace with one token; `lasts` is whether it outlives the command."""

    def __init__(self, host: str, token: str, *, lasts: bool = True) -> None:
        from databricks.sdk import WorkspaceClient
        from databricks.sdk.core import Config

        self._host, self.lasts = host, lasts
        config = Config(host=host, token=token, auth_type="pat", retry_timeout_seconds=_PATIENCE_SECONDS)
        self._client = WorkspaceClient(config=config).api_client
        self.user = str(self.ask("GET", "/api/2.0/preview/scim/v2/Me")["userName"])

    @property
    def host(self) -> str:
        """The address of the workspace."""
        return self._host

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer.

        Raises LookupError for what is not there, FileExistsError for what is there already, JobError for
        what was refused, and where no server answers (WORKSPACE_GONE).
        """
        with self._refusals():
            return self._client.do(method, path, body=dict(body) if body is not None else None)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        from databricks.sdk.errors import NotFound
        from databricks.sdk.errors.base import DatabricksError

        try:
            yield
        except NotFound as error:
            raise LookupError(str(error)) from None
        except DatabricksError as error:
            if str(error.error_code).endswith("ALREADY_EXISTS"):
                raise FileExistsError(str(error)) from None
            raise JobError(str(error.error_code or "WORKSPACE_ERROR"), str(error)) from None
        except OSError:
            raise JobError(
                "WORKSPACE_GONE",
                f"The workspace at {self._host} does not answer any more.",
                next_step="Start it again with `lakeward workspace`: what was going on has failed.",
            ) from None

    def upload(self, path: str, content: bytes) -> None:
        """Write a file, and the folders above it."""
        self.ask("POST", "/api/2.0/workspace/mkdirs", {"path": path.rpartition("/")[0]})
        name = quote(path.removeprefix("/"), safe="")
        route = f"/api/2.0/workspace-files/import-file/{name}"
        with self._refusals():
            self._client.do("POST", route, query={"overwrite": "true"}, data=content)

    def download(self, path: str) -> bytes:
        """The content of a file."""
        query = {"path": path, "direct_download": "true"}
        with self._refusals():
            found = self._client.do("GET", "/api/2.0/workspace/export", query=query, raw=True)
            with found["contents"] as stream:
                return bytes(stream.read())
