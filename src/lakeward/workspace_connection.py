"""Connection to the local workspace of this process: the command that runs it sets the variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

HOST_VARIABLE = "LAKEWARD_WORKSPACE_HOST"
TOKEN_VARIABLE = "LAKEWARD_WORKSPACE_TOKEN"  # noqa: S105  # the name of a variable


@dataclass(frozen=True)
class Connection:
    """A host, `http://127.0.0.1:PORT`, and a token for it."""

    host: str
    token: str

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables with which this process and its children find the workspace."""
        return {HOST_VARIABLE: self.host, TOKEN_VARIABLE: self.token}


NO_WORKSPACE = Connection("https://lakeward.localhost", "lakeward-local-token")
"""Opens nothing: for code that only passes it on. Names below `localhost` are never other machines."""


def process_connection(environ: Mapping[str, str] = os.environ) -> Connection | None:
    """Return the connection that the variables name; None without one."""
    host, token = environ.get(HOST_VARIABLE), environ.get(TOKEN_VARIABLE)
    return Connection(host, token) if host and token else None


@contextmanager
def use_connection(connection: Connection) -> Iterator[None]:
    """Lead code of this process, and of its children, to the workspace within the block."""
    before = {name: os.environ.get(name) for name in connection.variables}
    os.environ.update(connection.variables)
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
