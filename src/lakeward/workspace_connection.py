"""Connection to the local workspace of this process: the command that runs it sets the variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
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


def process_connection(environ: Mapping[str, str] = os.environ) -> Connection | None:
    """Return the connection that the variables name; None without one."""
    host, token = environ.get(HOST_VARIABLE), environ.get(TOKEN_VARIABLE)
    return Connection(host, token) if host and token else None
