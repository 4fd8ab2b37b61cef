"""A local workspace: the REST surface that databricks-sdk and the CLI talk to, on loopback.

Jobs and pipelines really run, each in a process of its own, through the rooms that lakeward's own commands
use. `serve` is the server of one target, `read_connection` where it answers. Importing this room loads no
server and no Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.on_demand import from_modules

if TYPE_CHECKING:
    from lakeward.workspace.connection import Connection, connection_file, read_connection
    from lakeward.workspace.firing import Start
    from lakeward.workspace.serving import serve, server_folder

__all__ = ["Connection", "Start", "connection_file", "read_connection", "serve", "server_folder"]

# The processes of runs and tasks are in this room, too, and need nothing of the server.
__getattr__ = from_modules(
    __name__,
    {
        "connection": ["Connection", "connection_file", "read_connection"],
        "firing": ["Start"],
        "serving": ["serve", "server_folder"],
    },
)
