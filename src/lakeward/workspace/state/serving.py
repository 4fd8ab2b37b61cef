"""Places of a target's server, and the connection to it while it runs.

Each command looks for a server: this module loads nothing of one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.principals import SERVER_FOLDER

if TYPE_CHECKING:
    from lakeward.session import Settings


def server_folder(settings: Settings) -> Path:
    """Return the folder of the server's state: database, logs of runs, request log."""
    return settings.state / SERVER_FOLDER


def lock_file(settings: Settings) -> Path:
    """Return the file that the target's server has a lock on."""
    return server_folder(settings) / "lock"


def serving_file(settings: Settings) -> Path:
    """Return the file with the connection to the target's server while it runs; its mode is 600."""
    return settings.state / "serving.json"
