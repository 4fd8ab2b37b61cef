"""Places of a target's server, and the connection to it while it runs.

Each command looks for a server: this module loads nothing of one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.atomic_files import read_regular
from lakeward.workspace_connection import Connection

if TYPE_CHECKING:
    from lakeward.session import Settings


def server_folder(settings: Settings) -> Path:
    """Return the folder of the server's state: database, logs of runs, request log."""
    return settings.state / "server"


def lock_file(settings: Settings) -> Path:
    """Return the file that the target's server has a lock on."""
    return server_folder(settings) / "lock"


def serving_file(settings: Settings) -> Path:
    """Return the file with the connection to the target's server while it runs; its mode is 600."""
    return settings.state / "serving.json"


def read_from(file: Path) -> Connection | None:
    """Return the connection in `file`, None if it is missing or cannot be read."""
    try:
        known = json.loads(read_regular(file))
        return Connection(str(known["host"]), str(known["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
