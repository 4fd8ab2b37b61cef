"""Responses with the content of a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from starlette.responses import FileResponse, JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send


class OpenedFileResponse(FileResponse):
    """Sends a file that is open already, and closes it.

    Starlette opens a file by its path after it has sent the length. A file that is replaced in between has
    another length, and its client gets an error; here it gets the content that was there.
    """

    def __init__(self, descriptor: int, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(
            f"/dev/fd/{descriptor}",
            status,
            headers,
            media_type="application/octet-stream",
            stat_result=os.fstat(descriptor),
        )
        self._descriptor = descriptor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused: Message | None = None

        async def send_accepted(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] >= 400:
                refused = message
            if refused is None:
                await send(message)

        try:
            await super().__call__(scope, receive, send_accepted)
        finally:
            os.close(self._descriptor)
        if refused is not None:
            await _invalid_range(refused)(scope, receive, send)


def _invalid_range(refused: Message) -> Response:
    """Return the response to an invalid Range header; Starlette's has no JSON, which clients expect."""
    message = "The Range header is malformed, or begins behind the end of the file."
    headers = {
        name.decode(): value.decode() for name, value in refused["headers"] if name == b"content-range"
    }
    body = {"error_code": "INVALID_PARAMETER_VALUE", "message": message}
    return JSONResponse(body, refused["status"], headers=headers)


def file_response(file: Path, status: int, headers: Mapping[str, str]) -> Response:
    """Return the response with a file, 404 where it has been removed since the route found it."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return _gone(headers)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return _gone(headers)
    return OpenedFileResponse(descriptor, status, headers)


def _gone(headers: Mapping[str, str]) -> Response:
    kept = {name: value for name, value in headers.items() if name.startswith("X-")}
    body = {"error_code": "NOT_FOUND", "message": "The file was removed while it was requested."}
    return JSONResponse(body, 404, headers=kept)
