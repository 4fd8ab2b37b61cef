"""The target's local workspace for a command: the one that runs, or one of the command's own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lakeward.cli.rest import Rest
from lakeward.errors import JobError, UsageError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings

__all__ = ["workspace"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@contextmanager
def workspace(bundle: Bundle, settings: Settings, *, local: bool = False) -> Iterator[Rest]:
    """Yield the target's workspace: the one that runs, else one that is started for the block.

    Raises UsageError(HOST_NOT_LOCAL) if the bundle names another host, unless `local` overrides it.
    """
    from lakeward.workspace import read_connection

    host = bundle.config["workspace"].get("host")
    if host and not local and urlsplit(str(host)).hostname not in _LOOPBACK:
        raise UsageError(
            "HOST_NOT_LOCAL",
            f"The bundle goes to {host}, and this command only to a workspace on this machine.",
            next_step=f"Add --local to use this machine's workspace: lakeward bundle deploy -t "
            f"{bundle.target} --local. For {host}, use the Databricks CLI: databricks bundle deploy.",
        )
    running = answering(settings)
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
                    "WORKSPACE_NOT_STARTED", "The local workspace did not start; it says why above."
                )
            yield Rest(started.host, started.token, lasts=False)
        finally:
            server.terminate()


def answering(settings: Settings) -> Rest | None:
    """The target's workspace if it answers; what an ended server left is no workspace."""
    from databricks.sdk.errors.base import DatabricksError

    from lakeward.workspace import read_connection

    known = read_connection(settings)
    if known is None or not listens(known.host):
        return None
    with suppress(DatabricksError, JobError, LookupError):
        return Rest(known.host, known.token)
    return None


def listens(host: str) -> bool:
    """Whether anybody is there: databricks-sdk would ask for minutes."""
    place = urlsplit(host)
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), timeout=1):
            return True
    except OSError:
        return False
