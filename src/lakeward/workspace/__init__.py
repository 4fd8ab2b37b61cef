"""The local workspace: a server of the Databricks REST API on loopback, for databricks-sdk and the CLI.

Jobs and pipelines really run, each in a process of its own, with the packages that lakeward's commands use.
`serve` runs the server of a target, `read_connection` returns its address. Importing this package
loads neither a server nor Spark.

    server_process -> server -> http -> api -> context
        -> triggers, warehouse, command_contexts -> runs -> state
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from lakeward.workspace.identifiers import LOCAL_CLUSTER, WAREHOUSE_ID
    from lakeward.workspace.server import serve
    from lakeward.workspace.server_process import ServerProcess, running_connection
    from lakeward.workspace.state.connection import connection_file, read_connection
    from lakeward.workspace.state.serving import serving_file
    from lakeward.workspace.triggers.scheduler import ScheduledStart

# Processes of runs import modules of this package and need nothing of the server.
__getattr__ = lazy_exports(__name__, __file__)
