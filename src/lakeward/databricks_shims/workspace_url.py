"""`https://` before the host name of the workspace leads to the local workspace, which has no certificate.

Code on the platform joins `https://` and `spark.databricks.workspaceUrl`, or the `browserHostName` of the
notebook context. Here both name a server on loopback without TLS. Connections to these names, and to no
others, are made without it: those of `urllib`, `http.client`, urllib3 and what is built on them (requests,
databricks-sdk).
"""

from __future__ import annotations

import functools
import socket
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from lakeward import patching
from lakeward.patching import PatchSpec
from lakeward.workspace_connection import NO_WORKSPACE, process_host

_NAME = urlsplit(NO_WORKSPACE.host).hostname


def lead_connections(module: ModuleType) -> None:
    """Patch the imported module `http.client` or `urllib3.connection`."""
    patching.install(_specs(module))


def restore_connections(module: ModuleType) -> None:
    """Restore the module; open connections are not affected."""
    patching.uninstall(_specs(module))


def _specs(module: ModuleType) -> list[PatchSpec]:
    return [spec for spec in PATCHES if spec.owner.startswith(f"{module.__name__}:")]


def _local_address(host: str, port: int | None) -> tuple[str, int] | None:
    """Return where the local workspace listens if `host` and `port` mean it, else None.

    Raises ConnectionError if this process has no workspace.
    """
    server = urlsplit(process_host() or "")
    if server.hostname and server.port:
        is_named = host == _NAME or (host, port) == (server.hostname, server.port)
        return (server.hostname, server.port) if is_named else None
    if host == _NAME:
        raise ConnectionError(
            f"{host} is the name of the local workspace, and this process has none. `lakeward run`, "
            "`notebook` and `pipeline` have one; `lakeward workspace` serves one for other programs."
        )
    return None


def _without_tls(before: Any) -> Any:
    @functools.wraps(before)
    def connect(self: Any) -> None:
        # Proxies do not see names of this machine.
        tunnel = getattr(self, "_tunnel_host", None)
        host, port = (tunnel, self._tunnel_port) if tunnel else (self.host, self.port)
        address = _local_address(host, port)
        if address is None:
            before(self)
            return
        timeout = self.timeout
        self.sock = (
            socket.create_connection(address, timeout)
            if isinstance(timeout, (int, float)) or timeout is None
            else socket.create_connection(address)
        )
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # urllib3 warns of connections whose certificate was not verified.
        self.is_verified = True

    return connect


_REASON = "https:// before the host name of the workspace leads to the local workspace"
PATCHES = (
    PatchSpec("http.client:HTTPSConnection", "connect", "shims", _REASON, _without_tls),
    PatchSpec("urllib3.connection:HTTPSConnection", "connect", "shims", _REASON, _without_tls),
)
