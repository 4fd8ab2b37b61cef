"""Where a target's workspace answers, and with which token: `workspace/connection.json`, mode 600."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.session import Settings
from lakeward.standins.local_workspace import CONNECTION
from lakeward.whole_files import write_whole

__all__ = ["Connection", "connection_file", "read_connection", "write_connection"]


@dataclass(frozen=True)
class Connection:
    """A host, `http://127.0.0.1:PORT`, and a token for it."""

    host: str
    token: str


def connection_file(settings: Settings) -> Path:
    """The file of a target."""
    return settings.workspace / CONNECTION


def read_connection(settings: Settings) -> Connection | None:
    """What the last server of the target left; None where there was none. It may not be running any more."""
    try:
        known = json.loads(connection_file(settings).read_bytes())
        return Connection(str(known["host"]), str(known["token"]))
    except (FileNotFoundError, ValueError, KeyError):
        return None


def write_connection(settings: Settings, connection: Connection) -> None:
    """Replace the file in one step; nobody but its owner can ever read it."""
    file = connection_file(settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, json.dumps(asdict(connection)) + "\n", mode=0o600)
