"""The sockets on loopback that the server listens to."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import ConfigurationError
from lakeward.workspace_connection import Connection

if TYPE_CHECKING:
    from lakeward.workspace.http.tls import SecureListener


@dataclass(frozen=True)
class Listeners:
    """A listening socket for HTTP, and one for HTTPS; the server of a single command has no HTTPS."""

    http: socket.socket
    https: SecureListener | None = None

    @property
    def host(self) -> str:
        """The address of the server for HTTP."""
        return f"http://127.0.0.1:{_bound_port(self.http)}"

    @property
    def https_host(self) -> str:
        """The address of the server for HTTPS; empty if it has none."""
        return f"https://127.0.0.1:{_bound_port(self.https.socket)}" if self.https is not None else ""


@contextmanager
def open_listeners(
    port: int, https_port: int, last: Connection | None, tls_folder: Path
) -> Iterator[Listeners]:
    """Yield sockets that listen on the ports; for 0 on those of the `last` server if they are free.

    Raises ConfigurationError(PORT_TAKEN).
    """
    known = last or Connection("", "")
    with ExitStack() as held:
        http = held.enter_context(_listening(port, _port_of(known.host), "--port"))
        https = held.enter_context(_listening(https_port, _port_of(known.https_host), "--https-port"))
        yield Listeners(http, _secured(https, tls_folder))


def _secured(listener: socket.socket, folder: Path) -> SecureListener:
    from lakeward.workspace.http.tls import SecureListener, server_context, write_trusted_authorities

    return SecureListener(listener, server_context(folder), write_trusted_authorities(folder))


@contextmanager
def _listening(port: int, last: int, option: str) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        _bind(listener, port, last, option)
        yield listener
    finally:
        listener.close()


def _bind(listener: socket.socket, port: int, last: int, option: str) -> None:
    try:
        listener.bind(("127.0.0.1", port or last))
    except OSError as error:
        if port:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            why, what = "is taken by another program", "Give another one"
            if error.errno == errno.EACCES:
                why = "may not be used"
                what += f", allow it (on Linux: sudo sysctl net.ipv4.ip_unprivileged_port_start={port})"
            raise ConfigurationError(
                "PORT_TAKEN", f"Port {port} {why}.", next_step=f"{what}, or leave {option} out."
            ) from None
        listener.bind(("127.0.0.1", 0))


def _port_of(host: str) -> int:
    """Return the port of the last server's address, so that configured clients keep working; 0 if unknown."""
    tail = host.rpartition(":")[2]
    return int(tail) if tail.isdecimal() and int(tail) < 2**16 else 0


def _bound_port(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])
