"""The server as an ASGI application: authentication, size limits, routing, responses.

request -> host? -> page? -> token? -> route? -> body within its limit? -> handler in a thread -> log line
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import functools
import inspect
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import orjson
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import request_response
from starlette.types import Receive, Scope, Send

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    ApiResponse,
    Route,
    handle_request,
    invalid_parameter,
    printable,
    refuse,
)
from lakeward.dbutils import Environment
from lakeward.workspace.context import ServerContext, ServerRequest
from lakeward.workspace.http.file_response import file_response
from lakeward.workspace.http.page_files import PAGES, page_response
from lakeward.workspace.http.request_log import RequestLog
from lakeward.workspace.http.route_table import PUBLIC_PATHS, TABLE
from lakeward.workspace.state.store import now
from lakeward.workspace.warehouse.result_links import RESULTS_PATH
from lakeward.workspace_connection import WORKSPACE_ID

_MAX_JSON_BYTES = 32 * 2**20
_MAX_UPLOAD_BYTES = 5 * 2**30
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_HOST = re.compile(r"(127\.0\.0\.1|(lakeward\.)?localhost)(:\d{1,5})?", re.IGNORECASE | re.ASCII)


@dataclass
class RequestHandler:
    """Authenticates requests, limits their size, and calls the handlers of their routes."""

    environment: Environment
    context: ServerContext
    log: RequestLog
    uploads: Path

    async def __call__(self, request: Request) -> Response:
        began = time.perf_counter()
        route: Route | None = None
        user = ""
        path = request.scope["path"]
        try:
            refuse_foreign_host(request)
            refuse_two_lengths(request)
            if path in PAGES and request.method in ("GET", "HEAD"):
                return page_response(path)
            user = "" if path in PUBLIC_PATHS or is_result_link(request) else self.user_of(request)
            found = TABLE.find(request.method, path) or TABLE.find(request.method, path.rstrip("/"))
            if found is None:
                raise not_served(request.method, path)
            route, at = found
            status, answer = await self.answer(request, route, at, user)
            refuse_modified(request, answer)
        except ApiError as failure:
            status, answer = failure.status, {"error_code": failure.code, "message": str(failure)}
        except ClientDisconnect:
            status, answer = (
                400,
                {"error_code": "MALFORMED_REQUEST", "message": "The request body was truncated."},
            )
        except Exception as error:  # noqa: BLE001  # faults of lakeward are answered and logged
            self.log.add(fault=f"{type(error).__name__}: {error}")
            status, answer = (
                500,
                {"error_code": "INTERNAL_ERROR", "message": "A fault of lakeward: see its log."},
            )
        response = to_response(status, answer, head=request.method == "HEAD")
        if has_two_lengths(request):
            # What follows can be the rest of the body or another request (RFC 9112 §6.1).
            response.headers["Connection"] = "close"
        self.log.add(
            method=request.method,
            path=path,
            status=status,
            error=answer.get("error_code") if isinstance(answer, dict) and status >= 400 else None,
            route=f"{route.method} {route.path}" if route else None,
            user=user,
            agent=request.headers.get("user-agent", ""),
            ms=round((time.perf_counter() - began) * 1000, 2),
        )
        return response

    def note(self, fault: str) -> None:
        """Log the fault of a handler that did not expect the request."""
        self.log.add(fault=fault)

    def user_of(self, request: Request) -> str:
        """Return the caller that the token belongs to. Raises ApiError for an invalid token."""
        if len(request.headers.getlist("authorization")) > 1:
            raise ApiError(400, "MALFORMED_REQUEST", "The request has more than one Authorization header.")
        value = bearer(request.headers.get("authorization", ""))
        if not value:
            message = "Credential was not sent or was of an unsupported type for this API."
            raise ApiError(401, "UNAUTHENTICATED", message)
        info = self.context.tokens.owner_of(value)
        if info is None:
            raise ApiError(403, "PERMISSION_DENIED", "Invalid access token.")
        if info["expiry_time"] < now():
            raise ApiError(403, "PERMISSION_DENIED", "Invalid access token: it has expired.")
        return str(info["user"])

    async def answer(self, request: Request, route: Route, at: str, user: str) -> tuple[int, Any]:
        """Return status and response of the route's handler."""
        most = _MAX_UPLOAD_BYTES if route.upload else _MAX_JSON_BYTES
        announced = request.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > most:
            raise too_large(most)
        call = functools.partial(
            ServerRequest,
            self.environment,
            at,
            dict(request.query_params),
            user=user,
            context=self.context,
            is_secure=request.url.scheme == "https",
        )
        receive = self._receive_upload if route.upload else self._receive_json
        return await receive(request, route, call, most)

    async def _receive_json(
        self, request: Request, route: Route, call: Callable[..., ServerRequest], most: int
    ) -> tuple[int, Any]:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > most:
                raise too_large(most)
        received = call(data=bytes(data))
        if inspect.iscoroutinefunction(route.handler):
            # It waits without occupying a thread.
            try:
                return 200, await route.handler(received)
            except Exception as error:  # noqa: BLE001  # raised again where the request has not caused it
                return refuse(error, received, self.note)
        if route.quick:
            return handle_request(route.handler, received, self.note)
        return await to_thread.run_sync(handle_request, route.handler, received, self.note)

    async def _receive_upload(
        self, request: Request, route: Route, call: Callable[..., ServerRequest], most: int
    ) -> tuple[int, Any]:
        """Write the body to a file, which the handler moves or reads."""
        aside = self.uploads / f"{uuid.uuid4().hex}.part"
        try:
            self.uploads.mkdir(parents=True, exist_ok=True, mode=0o700)
            size = 0
            with aside.open("wb") as file:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > most:
                        raise too_large(most)
                    await to_thread.run_sync(file.write, chunk)
            return await to_thread.run_sync(handle_request, route.handler, call(received=aside), self.note)
        except OSError as error:
            return refuse(error, call())
        finally:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)


def to_response(status: int, answer: object, *, head: bool) -> Response:
    """Return an answer as a response with the id of the workspace."""
    common = {"X-Databricks-Org-Id": str(WORKSPACE_ID), "X-Content-Type-Options": "nosniff"}
    if status >= 400 and isinstance(answer, dict) and "message" in answer:
        # Clients of Thrift do not read the body of an error.
        common["X-Databricks-Reason-Phrase"] = header_text(answer["message"])
    if isinstance(answer, ApiResponse):
        headers = {**answer.headers, **common}
        if answer.file is not None and not head:
            return file_response(answer.file, status, headers)
        return Response(answer.data, status, headers=headers)
    return Response(encode_answer(answer), status, headers=common, media_type="application/json")


def header_text(text: str) -> str:
    """Return a text as the value of a header: printable ASCII in one line."""
    return "".join(character if " " <= character <= "~" else "?" for character in text[:500]).strip()


def encode_answer(answer: object) -> bytes:
    """Return an answer as JSON; names of files that are not UTF-8 have U+FFFD in them."""
    try:
        return orjson.dumps(answer)
    except TypeError:
        return orjson.dumps(printable(answer))


def bearer(header: str) -> str:
    """Return the token of an Authorization header: `Bearer …`, or Basic with the user `token`."""
    kind, _, value = header.partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return ""
        return password if user == "token" else ""
    return ""


def is_result_link(request: Request) -> bool:
    """Return whether the request is for a signed link. Raises ApiError for one that carries a token, too."""
    if not request.scope["path"].startswith(RESULTS_PATH):
        return False
    if "authorization" in request.headers:
        raise invalid_parameter(
            "Do not send an Authorization header to an external link: it carries its own credentials."
        )
    return True


def refuse_foreign_host(request: Request) -> None:
    """Raise ApiError for requests of web pages of another host name (DNS rebinding)."""
    if _HOST.fullmatch(request.headers.get("host", "")) is None:
        raise ApiError(403, "PERMISSION_DENIED", "This server is for 127.0.0.1 and localhost.")


def refuse_two_lengths(request: Request) -> None:
    """Raise ApiError for a body with two kinds of length (request smuggling, RFC 9112 §6.1)."""
    if has_two_lengths(request):
        raise ApiError(400, "MALFORMED_REQUEST", "Content-Length and Transfer-Encoding exclude each other.")


def has_two_lengths(request: Request) -> bool:
    """Return whether a body has a length and is chunked."""
    return "transfer-encoding" in request.headers and "content-length" in request.headers


def refuse_modified(request: Request, answer: object) -> None:
    """Raise ApiError for a file that is newer than the one of which the client has a part already.

    databricks-sdk downloads large files in ranges, and would join those of two versions.
    """
    since = request.headers.get("if-unmodified-since")
    if since is None or not isinstance(answer, ApiResponse) or "Last-Modified" not in answer.headers:
        return
    with contextlib.suppress(TypeError, ValueError):  # not a date: the header is ignored (RFC 9110 §13.1.4)
        if parsedate_to_datetime(answer.headers["Last-Modified"]) > parsedate_to_datetime(since):
            raise ApiError(412, "PRECONDITION_FAILED", "The file was modified since the time of the request.")


def not_served(method: str, path: str) -> ApiError:
    """Return the error for a request without a route: it names the server, since clients pass it on."""
    message = f"{method} {path} is not served here, by the local workspace of lakeward"
    others = [other for other in _METHODS if other != method and TABLE.find(other, path)]
    if others:
        message += f", which has {', '.join(others)} of this path"
    return ApiError(501, "NOT_IMPLEMENTED", f"{message}. Its routes are listed in docs/workspace.md.")


def too_large(most: int) -> ApiError:
    """Return the error for a body above its limit."""
    return ApiError(413, "REQUEST_TOO_LARGE", f"The body has more than {most} bytes.")


def application(handler: RequestHandler, closing: Callable[[], None]) -> Starlette:
    """Return the application; `closing` is called when the server shuts down."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await to_thread.run_sync(closing)

    served = Starlette(lifespan=lifespan)
    answer, refuse = request_response(handler.__call__), served.router.default

    async def every_path(scope: Scope, receive: Receive, send: Send) -> None:
        await (answer if scope["type"] == "http" else refuse)(scope, receive, send)

    # Not a route: Starlette's patterns match no path with a line break, and answer it without JSON.
    served.router.default = every_path
    return served
