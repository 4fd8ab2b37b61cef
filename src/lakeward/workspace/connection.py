"""Where a target's workspace answers, and with which token: `workspace/connection.json`, mode 600."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.session import Settings
from lakeward.standins.local_workspace import CONNECTION

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
    aside = file.with_name(f".{file.name}.{os.getpid()}.part")
    aside.unlink(missing_ok=True)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(asdict(connection), stream)
        stream.write("\n")
    aside.replace(file)
