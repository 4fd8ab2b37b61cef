"""Identity and address of a target's workspace, in files with mode 600.

`workspace/connection.json` is what clients are configured with, and stays. The server that runs may be that
of one command alone: see `serving`.
"""

from __future__ import annotations

from pathlib import Path

from lakeward.databricks_shims.local_workspace import CONNECTION
from lakeward.session import Settings
from lakeward.workspace_connection import Connection, read_connection_file


def connection_file(settings: Settings) -> Path:
    """Return the file of a target."""
    return settings.workspace / CONNECTION


def read_connection(settings: Settings) -> Connection | None:
    """Return what the last server of the target wrote, None if the file is missing or cannot be read.

    That server may not be running any more; the next one writes the file again.
    """
    return read_connection_file(connection_file(settings))
