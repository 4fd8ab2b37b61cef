"""The paths at which a SQL warehouse, or a cluster, answers Thrift: the `http_path` of a connection.

Profiles of dbt and settings of connections name compute of the workspace that they are deployed to. What has
the form of an id of a platform is accepted: the local warehouse runs the statements.

Source: https://docs.databricks.com/integrations/compute-details
"""

from __future__ import annotations

from anyio import to_thread

from lakeward.databricks_shims.local_workspace import ApiResponse, Route
from lakeward.workspace.api.cluster_records import find_cluster
from lakeward.workspace.api.warehouses import require_warehouse
from lakeward.workspace.context import ServerRequest

_HEADERS = {"Content-Type": "application/x-thrift"}


async def warehouse(call: ServerRequest) -> ApiResponse:
    """Answer a call to a SQL warehouse."""
    key = call.path_parameter
    await to_thread.run_sync(require_warehouse, call, key)
    return await _answer(call, key)


async def cluster(call: ServerRequest) -> ApiResponse:
    """Answer a call to a cluster: the local warehouse runs its statements."""
    key = call.path_parameter.rpartition("/")[2]
    await to_thread.run_sync(find_cluster, call, key)
    return await _answer(call, key)


async def _answer(call: ServerRequest, compute: str) -> ApiResponse:
    # Here: most servers get no such request.
    from lakeward.workspace.thrift.codec import read_call, write_reply, write_unknown_method
    from lakeward.workspace.thrift.service import answer

    message = read_call(call.data)
    response = None
    if message.request is not None:
        response = await answer(call, message.method, message.request, compute)
    data = write_unknown_method(message) if response is None else write_reply(message, response)
    return ApiResponse(data, _HEADERS)


ROUTES = (
    Route("POST", "/sql/1.0/warehouses/{}", warehouse),
    Route("POST", "/sql/1.0/endpoints/{}", warehouse),
    Route("POST", "/sql/protocolv1/o/{}/{}", cluster),
)
