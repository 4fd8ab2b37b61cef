"""Identity and address of a target's workspace: `workspace/connection.json`, mode 600."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.atomic_files import atomic_write, read_regular
from lakeward.databricks_shims.local_workspace import CONNECTION
from lakeward.session import Settings

WORKSPACE_ID = 1000000000000001
"""Id of every local workspace."""


@dataclass(frozen=True)
class Connection:
    """A host, `http://127.0.0.1:PORT`, and a token for it."""

    host: str
    token: str


def connection_file(settings: Settings) -> Path:
    """Return the file of a target."""
    return settings.workspace / CONNECTION


def read_connection(settings: Settings) -> Connection | None:
    """Return what the last server of the target wrote, None if the file is missing or cannot be read.

    That server may not be running any more; the next one writes the file again.
    """
    try:
        known = json.loads(read_regular(connection_file(settings)))
        return Connection(str(known["host"]), str(known["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_connection(settings: Settings, connection: Connection) -> None:
    """Replace the file atomically, with mode 600 from the beginning."""
    file = connection_file(settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(file, json.dumps(asdict(connection)) + "\n", mode=0o600)
