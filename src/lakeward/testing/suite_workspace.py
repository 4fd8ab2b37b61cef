"""The local workspace of a test suite: its variables are set at once, its server starts on first use.

Libraries look for `DATABRICKS_HOST` and its relatives in the environment, so these are set before the first
test. A server for every suite would cost seconds and memory that most suites do not need. So this process
only listens: the first connection starts the server, which takes over the listening socket and finds that
connection waiting in it.
"""

from __future__ import annotations

import ast
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path

from lakeward.workspace import LOCAL_CLUSTER, WAREHOUSE_ID

SUITE_HOST = "LAKEWARD_TESTS_HOST"
"""Variable with the address of this suite's workspace; `databricks_shims` reads it, too."""
_SELECTS_WORKSPACE = (
    *("DATABRICKS_HOST", "DATABRICKS_TOKEN", "DATABRICKS_CONFIG_PROFILE", "DATABRICKS_CONFIG_FILE"),
    *("DATABRICKS_CLIENT_ID", "DATABRICKS_USERNAME", "DATABRICKS_AUTH_TYPE", "DATABRICKS_AZURE_RESOURCE_ID"),
)
_END_SECONDS = 10.0


def selects_workspace(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the user's variables name a workspace.

    What a pytest-xdist controller set for its own workspace does not count: each worker has a lakehouse, and
    so a workspace, of its own.
    """
    if SUITE_HOST in environ:
        return environ.get("DATABRICKS_HOST") != environ[SUITE_HOST]
    return any(environ.get(name) for name in _SELECTS_WORKSPACE)


_SERVERLESS_VARIABLE, _SERVERLESS_SETTING = "DATABRICKS_SERVERLESS_COMPUTE_ID", "serverless_compute_id"


def chooses_serverless(root: Path) -> bool:
    """Return whether a conftest.py at most two folders below `root` chooses serverless compute by itself.

    Such a suite does so where no cluster is named, as the conftest.py of the platform's bundle templates.
    Code that only reads the variable, to skip tests on some compute, works with a cluster.
    """
    files = (file for pattern in ("", "*/", "*/*/") for file in root.glob(f"{pattern}conftest.py"))
    return any(_sets_serverless(file) for file in files if file.is_file())


def _sets_serverless(file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    if _SERVERLESS_VARIABLE not in text and _SERVERLESS_SETTING not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False  # pytest reports the file.
    return any(_is_choice(node) for node in ast.walk(tree))


def _is_choice(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant(value=name), ctx=ast.Store()):
            return bool(name == _SERVERLESS_VARIABLE)
        case ast.Attribute(attr=name, ctx=ast.Store()) | ast.keyword(arg=name):
            return name in (_SERVERLESS_SETTING, _SERVERLESS_VARIABLE)
        case ast.Call(func=ast.Attribute(attr="setdefault" | "setenv" | "putenv"), args=[first, *_]):
            return isinstance(first, ast.Constant) and first.value == _SERVERLESS_VARIABLE
        case ast.Dict(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value == _SERVERLESS_VARIABLE for key in keys)
    return False


class SuiteWorkspace:
    """Listens for the server of a suite's workspace, and ends it with the suite."""

    def __init__(self) -> None:
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(128)
        self._token = f"dapi{secrets.token_hex(32)}"
        self._closing, self._close_signal = os.pipe()
        self._server: subprocess.Popen[bytes] | None = None
        # A test may change both before the server starts.
        self._environ, self._folder = dict(os.environ), Path.cwd()
        self._thread = threading.Thread(target=self._wait, name="lakeward-suite-workspace", daemon=True)

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables that lead clients to the workspace."""
        host = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        return {
            "DATABRICKS_HOST": host,
            "DATABRICKS_TOKEN": self._token,
            "DATABRICKS_CLUSTER_ID": LOCAL_CLUSTER,
            "DATABRICKS_WAREHOUSE_ID": WAREHOUSE_ID,
            SUITE_HOST: host,
        }

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
        self._listener.close()
        os.close(self._closing)
        os.close(self._close_signal)

    def _wait(self) -> None:
        ready, _, _ = select.select([self._listener.fileno(), self._closing], [], [])
        if self._closing in ready:
            return
        descriptor = self._listener.fileno()
        command = [sys.executable, "-m", "lakeward.testing.suite_workspace", str(descriptor)]
        # The end of stdin ends the server, even if this process is killed.
        self._server = subprocess.Popen(
            command, stdin=subprocess.PIPE, pass_fds=[descriptor], env=self._environ, cwd=self._folder
        )
        assert self._server.stdin is not None
        self._server.stdin.write(f"{self._token}\n".encode())
        self._server.stdin.flush()


def set_variables(values: Mapping[str, str], environ: MutableMapping[str, str]) -> dict[str, str | None]:
    """Set `values`, except identifiers of compute that the user chose; return what they replaced."""
    kept = {
        name
        for name in ("DATABRICKS_CLUSTER_ID", "DATABRICKS_WAREHOUSE_ID")
        if environ.get(name) and SUITE_HOST not in environ
    }
    before = {name: environ.get(name) for name in values if name not in kept}
    environ.update({name: value for name, value in values.items() if name not in kept})
    return before


def serve_suite(descriptor: int) -> None:
    """Serve the workspace of this folder on the inherited socket until stdin ends."""
    from lakeward.bundle import runtime_here
    from lakeward.session import Settings
    from lakeward.workspace import serve

    token = sys.stdin.readline().strip()

    def end() -> None:
        with suppress(OSError, ValueError):
            sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end, daemon=True).start()
    settings = Settings.here(profile=runtime_here(Path.cwd()))
    # What the server writes belongs to the user alone.
    os.umask(0o077)
    serve(settings, listener=socket.socket(fileno=descriptor), token=token, ready=lambda *_: None)


if __name__ == "__main__":
    serve_suite(int(sys.argv[1]))
