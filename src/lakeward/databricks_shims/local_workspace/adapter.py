"""Requests of clients in this process: answered without a socket, or sent to the workspace's server.

The server answers what needs more than the state folder, and requests with another token than the process's.
"""

from __future__ import annotations

import io
import json
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from lakeward.databricks_shims.local_workspace.api_request import ApiResponse, printable
from lakeward.databricks_shims.local_workspace.routes import is_local, respond
from lakeward.dbutils import environment
from lakeward.workspace_connection import NO_WORKSPACE, Connection, process_connection

HOST = NO_WORKSPACE.host
"""Not a real host: this name is never resolved."""
_GONE = "The local workspace at {host} has ended: it ends with the command that started it."


@cache
def adapter() -> Any:
    """Return a transport adapter for `requests`, a dependency of databricks-sdk."""
    from requests import ConnectionError as NotConnected
    from requests import Response
    from requests.adapters import BaseAdapter, HTTPAdapter

    class InProcess(BaseAdapter):
        def __init__(self) -> None:
            super().__init__()
            self._server = HTTPAdapter()

        def send(self, request: Any, **options: Any) -> Response:  # type: ignore[override]  # keywords only
            parts = urlsplit(request.url)
            connection = process_connection()
            if connection is not None and _needs_server(request, unquote(parts.path), connection):
                try:
                    return self._server.send(request, **options)
                except NotConnected as error:
                    # Clients repeat requests that were not answered for minutes.
                    raise RuntimeError(_GONE.format(host=connection.host)) from error
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
            status, answer = respond(
                environment(), request.method, unquote(parts.path), query, _bytes(request.body)
            )
            response = Response()
            response.status_code = status
            response.url, response.request = request.url, request
            if not isinstance(answer, ApiResponse):
                answer = ApiResponse(
                    json.dumps(printable(answer)).encode(), {"Content-Type": "application/json"}
                )
            content = answer.content()
            headers = {"Content-Length": str(len(content)), **answer.headers}
            response.headers.update(headers)
            response.raw = io.BytesIO(b"" if request.method == "HEAD" else content)
            return response

        def close(self) -> None:
            self._server.close()

    return InProcess()


def _needs_server(request: Any, path: str, connection: Connection) -> bool:
    to_server = str(request.url).startswith((f"{connection.host}/", f"{HOST}/"))
    known = request.headers.get("Authorization") == f"Bearer {connection.token}"
    return to_server and not (known and is_local(request.method, path))


def _bytes(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        return bytes(body.read())
    return bytes(body) if isinstance(body, (bytes, bytearray)) else b"".join(body)
