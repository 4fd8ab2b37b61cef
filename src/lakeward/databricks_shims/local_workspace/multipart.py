"""Fields of a request that is JSON or a multipart form with a file."""

from __future__ import annotations

import re
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import ApiError
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest

_MOST_PARTS = 100


def request_fields(call: ApiRequest) -> dict[str, Any]:
    """Return the fields of the JSON body, or of a form with the content as a file."""
    if not call.data.startswith(b"--"):
        return call.body
    boundary = call.data.split(b"\r\n", 1)[0]
    fields: dict[str, Any] = {}
    parts = call.data.split(boundary, _MOST_PARTS + 1)
    if len(parts) > _MOST_PARTS:
        raise ApiError(400, "MALFORMED_REQUEST", f"The form has more than {_MOST_PARTS} parts.")
    for part in parts[1:-1]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]+)"', head)
        if name:
            plain = value.removesuffix(b"\r\n")
            fields[name.group(1).decode()] = plain if b"filename=" in head else plain.decode()
    return fields
