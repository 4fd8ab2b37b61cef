"""A local workspace: the REST surface that databricks-sdk and the CLI talk to, on loopback.

Jobs and pipelines really run, each in a process of its own, through the rooms that lakeward's own commands
use. `serve` is the server of one target, `read_connection` where it answers. Importing this room loads no
server and no Spark.
"""

from lakeward.workspace.connection import Connection, connection_file, read_connection
from lakeward.workspace.firing import Start
from lakeward.workspace.serving import serve, server_folder

__all__ = ["Connection", "Start", "connection_file", "read_connection", "serve", "server_folder"]
