"""A workspace for as long as one command runs: its address is known at once, its server starts on first use.

Clients look for an address before they send anything, and a server for every command would cost seconds and
memory that most commands do not need. So the process of the command only listens: the first connection starts
the server, which takes over the listening socket and finds that connection waiting in it.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import LakewardError
from lakeward.file_lock import FileLock
from lakeward.workspace_connection import Connection, read_connection_file, write_connection_file

if TYPE_CHECKING:
    from lakeward.session import Settings
    from lakeward.workspace.state.store import Document

_END_SECONDS = 10.0
_MOST_BYTES = 65_536


class ServerProcess:
    """Listens for a server in a process of its own, starts it with the first connection, and ends it.

    Without `settings`, the server has those of the working folder. `resources` returns the jobs and pipelines
    that it has while it runs, as request bodies by kind and id.

    Attributes:
        connection: Its address, known before it starts.
        file: The file with the connection, until `close`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        resources: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(128)
        host = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connection = Connection(host, f"dapi{secrets.token_hex(32)}")
        self.file = self._write_connection()
        self._settings, self._resources = settings, resources
        self._closing, self._close_signal = os.pipe()
        self._server: subprocess.Popen[bytes] | None = None
        # The code that runs may change both before the server starts.
        self._environ, self._folder = dict(os.environ), Path.cwd()
        self._thread = threading.Thread(target=self._wait, name="lakeward-workspace", daemon=True)

    def _write_connection(self) -> Path:
        """Write the connection for this process's children; return the file."""
        descriptor, name = tempfile.mkstemp(prefix="lakeward-workspace-", suffix=".json")
        os.close(descriptor)
        write_connection_file(Path(name), self.connection)
        return Path(name)

    @property
    def started(self) -> bool:
        """Whether the server was needed."""
        return self._server is not None

    def start(self) -> None:
        """Wait for the first connection in a thread."""
        self._thread.start()

    def close(self) -> None:
        """End the server, if it was started; connections are refused from now on."""
        os.write(self._close_signal, b"x")
        self._thread.join()
        server = self._server
        if server is not None and server.stdin is not None:
            server.stdin.close()
            try:
                server.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        self.file.unlink(missing_ok=True)
        self._listener.close()
        os.close(self._closing)
        os.close(self._close_signal)

    def _wait(self) -> None:
        ready, _, _ = select.select([self._listener.fileno(), self._closing], [], [])
        if self._closing in ready:
            return
        from lakeward.workspace.state.settings_json import settings_to_json

        descriptor = self._listener.fileno()
        order = {
            "descriptor": descriptor,
            "token": self.connection.token,
            "settings": settings_to_json(self._settings) if self._settings else None,
            **self._found_resources(),
        }
        # The end of stdin ends the server, even if this process is killed.
        self._server = subprocess.Popen(
            [sys.executable, "-m", "lakeward.workspace.server_process"],
            stdin=subprocess.PIPE,
            pass_fds=[descriptor],
            env=self._environ,
            cwd=self._folder,
        )
        assert self._server.stdin is not None
        with suppress(OSError):
            self._server.stdin.write(f"{json.dumps(order)}\n".encode())
            self._server.stdin.flush()

    def _found_resources(self) -> Document:
        try:
            return {"resources": self._resources()}
        except LakewardError as error:
            return {"resources": {}, "refused": str(error)}


def running_connection(settings: Settings) -> Connection | None:
    """Return the connection to the server that serves the target's workspace now, None without one."""
    from lakeward.workspace.state.serving import lock_file, serving_file

    lock = lock_file(settings)
    if not lock.exists():
        return None
    held = FileLock(lock)
    try:
        if held.acquire(wait=False):
            held.release()
            return None
    except OSError:
        return None
    return read_connection_file(serving_file(settings))


def main() -> None:
    """Serve the workspace that the first line of stdin names, until stdin ends."""
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    # What the server writes belongs to the user alone.
    os.umask(0o077)
    with socket.socket(fileno=order["descriptor"]) as listener:
        try:
            if "refused" in order:
                _refuse(listener, order["refused"])
            _serve(order, listener)
        except LakewardError as error:
            _refuse(listener, str(error))


def _serve(order: Document, listener: socket.socket) -> None:
    from lakeward.bundle import runtime_here
    from lakeward.session import Settings
    from lakeward.workspace.server import serve
    from lakeward.workspace.state.settings_json import settings_from_json

    known = order["settings"]
    settings = settings_from_json(known) if known else Settings.here(profile=runtime_here(Path.cwd()))
    serve(
        settings,
        listener=listener,
        token=order["token"],
        resources=order["resources"],
        ready=lambda *_: None,
    )


def _end_with_stdin() -> None:
    with suppress(OSError, ValueError):
        sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _refuse(listener: socket.socket, reason: str) -> None:
    """Answer each request with the reason why there is no server: clients would wait for an answer."""
    body = json.dumps({"error_code": "INVALID_STATE", "message": reason}).encode()
    head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    for client in _clients(listener):
        with suppress(OSError):
            client.recv(_MOST_BYTES)
            client.sendall(f"{head}Connection: close\r\n\r\n".encode() + body)


def _clients(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        client, _ = listener.accept()
        with client:
            yield client


if __name__ == "__main__":
    main()
