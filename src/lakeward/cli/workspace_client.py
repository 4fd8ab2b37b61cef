"""A client of the local workspace of a target, which is started if it is not running."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from lakeward.errors import JobError, UsageError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings

# A local server that does not answer within this time has ended.
_PATIENCE_SECONDS = 15
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class WorkspaceApi:
    """Client of one workspace with one token; `outlives_command` is whether it runs after the command."""

    def __init__(self, host: str, token: str, *, outlives_command: bool = True) -> None:
        from databricks.sdk import WorkspaceClient
        from databricks.sdk.core import Config

        self._host, self.outlives_command = host, outlives_command
        config = Config(host=host, token=token, auth_type="pat", retry_timeout_seconds=_PATIENCE_SECONDS)
        self._client = WorkspaceClient(config=config).api_client
        self.user = str(self.ask("GET", "/api/2.0/preview/scim/v2/Me")["userName"])

    @property
    def host(self) -> str:
        """Return the address of the workspace."""
        return self._host

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the answer.

        Raises LookupError if the object does not exist, FileExistsError if it exists already, JobError for
        refused requests and for a server that does not answer (WORKSPACE_GONE).
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
                f"The workspace at {self._host} does not answer.",
                next_step="Start it again with `lakeward workspace`: its runs have failed.",
            ) from None

    def upload(self, path: str, content: bytes) -> None:
        """Write a file, and the folders above it."""
        self.ask("POST", "/api/2.0/workspace/mkdirs", {"path": path.rpartition("/")[0]})
        name = quote(path.removeprefix("/"), safe="")
        route = f"/api/2.0/workspace-files/import-file/{name}"
        with self._refusals():
            self._client.do("POST", route, query={"overwrite": "true"}, data=content)

    def download(self, path: str) -> bytes:
        """Return the content of a file."""
        query = {"path": path, "direct_download": "true"}
        with self._refusals():
            found = self._client.do("GET", "/api/2.0/workspace/export", query=query, raw=True)
            with found["contents"] as stream:
                return bytes(stream.read())


@contextmanager
def open_workspace(bundle: Bundle, settings: Settings, *, local: bool = False) -> Iterator[WorkspaceApi]:
    """Yield the target's workspace: the one that runs, else one that is started for the block.

    Raises UsageError(HOST_NOT_LOCAL) if the bundle names another host, unless `local` overrides it.
    """
    from lakeward.workspace import read_connection

    if not local and not is_for_this_machine(bundle):
        host = bundle.config["workspace"]["host"]
        raise UsageError(
            "HOST_NOT_LOCAL",
            f"The bundle goes to {host}, and this command only to a workspace on this machine.",
            next_step=f"Add --local to use this machine's workspace: lakeward bundle deploy -t "
            f"{bundle.target} --local. For {host}, use the Databricks CLI: databricks bundle deploy.",
        )
    running = running_workspace(settings)
    if running is not None:
        yield running
        return
    command = [sys.executable, "-m", "lakeward", "workspace", "-t", bundle.target, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=bundle.root, text=True) as server:
        try:
            assert server.stdout is not None
            answered = json.loads(server.stdout.readline() or "null")
            started = read_connection(settings)
            if not answered or started is None:
                raise JobError(
                    "WORKSPACE_NOT_STARTED",
                    "The local workspace did not start.",
                    next_step="Its output above has the reason.",
                )
            yield WorkspaceApi(started.host, started.token, outlives_command=False)
        finally:
            server.terminate()


def is_for_this_machine(bundle: Bundle) -> bool:
    """Return whether the bundle is deployed to a workspace on this machine."""
    host = bundle.config["workspace"].get("host")
    return not host or urlsplit(str(host)).hostname in _LOOPBACK


def running_workspace(settings: Settings) -> WorkspaceApi | None:
    """Return the target's workspace if its server answers, None otherwise."""
    from databricks.sdk.errors.base import DatabricksError

    from lakeward.workspace import read_connection, running_connection

    known = running_connection(settings) or read_connection(settings)
    if known is None or not _accepts_connections(known.host):
        return None
    with suppress(DatabricksError, JobError, LookupError):
        return WorkspaceApi(known.host, known.token)
    return None


def _accepts_connections(host: str) -> bool:
    """Return whether the port accepts connections; databricks-sdk would retry for minutes."""
    address = urlsplit(host)
    try:
        with socket.create_connection((address.hostname or "", address.port or 80), timeout=1):
            return True
    except OSError:
        return False
