"""Serve requests to the local workspace's host without a socket."""

from __future__ import annotations

import io
import json
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from lakeward.databricks_shims.local_workspace.api_request import ApiResponse, printable
from lakeward.databricks_shims.local_workspace.routes import respond
from lakeward.dbutils import environment

HOST = "https://lakeward.localhost"
"""Not a real host: names below `localhost` are local, and this one is never resolved."""


@cache
def adapter() -> Any:
    """Return a transport adapter for `requests`, a dependency of databricks-sdk."""
    from requests import Response
    from requests.adapters import BaseAdapter

    class InProcess(BaseAdapter):
        def send(self, request: Any, **_: Any) -> Response:  # type: ignore[override]  # its options are a socket's
            parts = urlsplit(request.url)
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
            """Nothing is open."""

    return InProcess()


def _bytes(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        return bytes(body.read())
    return bytes(body) if isinstance(body, (bytes, bytearray)) else b"".join(body)
