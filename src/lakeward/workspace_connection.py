"""Connection to the local workspace of this process: the command that runs it sets the variables.

The variables name the host and a file with the token: programs print their environment, and a process's
children inherit it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.atomic_files import atomic_write, read_json_object

HOST_VARIABLE = "LAKEWARD_WORKSPACE_HOST"
FILE_VARIABLE = "LAKEWARD_WORKSPACE_FILE"
WORKSPACE_ID = 1000000000000001
"""Id of every local workspace."""


@dataclass(frozen=True)
class Connection:
    """A host, `http://127.0.0.1:PORT`, and a token for it.

    Attributes:
        host: The address without TLS.
        token: A token of the user.
        https_host: The address with TLS, "" if the server has none.
        ca_file: The trusted authorities for `https_host`: the system's and that of the server.
    """

    host: str
    token: str
    https_host: str = ""
    ca_file: str = ""


NO_WORKSPACE = Connection("https://lakeward.localhost", "lakeward-local-token")
"""Opens nothing: for code that only passes it on. Names below `localhost` are never other machines."""


def write_connection_file(file: Path, connection: Connection) -> None:
    """Replace the file atomically, with mode 600 from the beginning."""
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(file, json.dumps(asdict(connection)) + "\n", mode=0o600)


def read_connection_file(file: Path) -> Connection | None:
    """Return the connection in `file`, None if it is missing or cannot be read."""
    known = read_json_object(file)
    if not {"host", "token"} <= known.keys():
        return None
    secure = (str(known.get(key, "")) for key in ("https_host", "ca_file"))
    return Connection(str(known["host"]), str(known["token"]), *secure)


def connection_variables(host: str, file: Path) -> dict[str, str]:
    """Return the variables with which a process and its children find the workspace of a connection file."""
    return {HOST_VARIABLE: host, FILE_VARIABLE: str(file)}


def process_host(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the host that the variables name, without a look at the file; None without a workspace."""
    return environ.get(HOST_VARIABLE) if environ.get(FILE_VARIABLE) else None


def process_connection(environ: Mapping[str, str] = os.environ) -> Connection | None:
    """Return the connection that the variables name; None without one.

    The file of a workspace that has ended is gone. Its host is known, so that clients can report that.
    """
    host = process_host(environ)
    if not host:
        return None
    known = read_connection_file(Path(environ[FILE_VARIABLE]))
    return Connection(host, known.token if known else "")


@contextmanager
def use_connection(host: str, file: Path) -> Iterator[None]:
    """Connect code of this process and its children to the workspace within the block."""
    variables = connection_variables(host, file)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        restore_variables(before)


def restore_variables(before: Mapping[str, str | None]) -> None:
    """Set variables to what they were; those that are None did not exist."""
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
