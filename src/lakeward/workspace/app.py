"""The server as an ASGI application: who asks, how much, for what; and the answer.

request -> host? -> page? -> token? -> route? -> body within its limit? -> handler in a thread -> log line
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import functools
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route as Path_

from lakeward.dbutils import Environment
from lakeward.standins.local_workspace import Answer, Failure, Route, answered
from lakeward.workspace.call import Office, ServerCall, now
from lakeward.workspace.page import PAGE
from lakeward.workspace.request_log import RequestLog
from lakeward.workspace.routes import OPEN, TABLE
from lakeward.workspace.various import WORKSPACE_ID

__all__ = ["MOST_JSON", "MOST_UPLOAD", "application"]

MOST_JSON = 32 * 2**20
MOST_UPLOAD = 5 * 2**30
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_HOSTS = ("127.0.0.1", "localhost")


@dataclass
class Door:
    """Everything that a request meets on its way in."""

    environment: Environment
    office: Office
    log: RequestLog
    uploads: Path
    most_json: int = MOST_JSON
    most_upload: int = MOST_UPLOAD

    async def __call__(self, request: Request) -> Response:
        began = time.perf_counter()
        route: Route | None = None
        user = ""
        path = request.scope["path"]
        try:
            refuse_foreign_host(request)
            if path == "/" and request.method in ("GET", "HEAD"):
                return HTMLResponse(PAGE, headers=SAFE)
            user = "" if path in OPEN else self.user_of(request)
            found = TABLE.find(request.method, path) or TABLE.find(request.method, path.rstrip("/"))
            if found is None:
                raise Failure(501, "NOT_IMPLEMENTED", f"{request.method} {path} is not served here.")
            route, at = found
            status, answer = await self.answer(request, route, at, user)
        except Failure as failure:
            status, answer = failure.status, {"error_code": failure.code, "message": str(failure)}
        except ClientDisconnect:
            status, answer = (
                400,
                {"error_code": "MALFORMED_REQUEST", "message": "The body did not come to its end."},
            )
        except Exception as error:  # noqa: BLE001  # a fault of ours is an answer and a log line, too
            self.log.add(fault=f"{type(error).__name__}: {error}")
            status, answer = (
                500,
                {"error_code": "INTERNAL_ERROR", "message": "A fault of lakeward: see its log."},
            )
        response = shown(status, answer, head=request.method == "HEAD")
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

    def user_of(self, request: Request) -> str:
        """Who asks, by the token. Raises Failure without a good one."""
        value = bearer(request.headers.get("authorization", ""))
        if not value:
            message = "Credential was not sent or was of an unsupported type for this API."
            raise Failure(401, "UNAUTHENTICATED", message)
        info = self.office.tokens.owner_of(value)
        if info is None:
            raise Failure(403, "PERMISSION_DENIED", "Invalid access token.")
        if info["expiry_time"] < now():
            raise Failure(403, "PERMISSION_DENIED", "Invalid access token: it has expired.")
        return str(info["user"])

    async def answer(self, request: Request, route: Route, at: str, user: str) -> tuple[int, Any]:
        """What the route's handler says to the request."""
        most = self.most_upload if route.upload else self.most_json
        announced = request.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > most:
            raise too_large(most)
        call = functools.partial(
            ServerCall, self.environment, at, dict(request.query_params), user=user, office=self.office
        )
        if not route.upload:
            data = bytearray()
            async for chunk in request.stream():
                data += chunk
                if len(data) > most:
                    raise too_large(most)
            if route.quick:
                return answered(route.handler, call(data=bytes(data)))
            return await to_thread.run_sync(answered, route.handler, call(data=bytes(data)))
        self.uploads.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = self.uploads / f"{uuid.uuid4().hex}.part"
        try:
            received = 0
            with aside.open("wb") as file:
                async for chunk in request.stream():
                    received += len(chunk)
                    if received > most:
                        raise too_large(most)
                    await to_thread.run_sync(file.write, chunk)
            return await to_thread.run_sync(answered, route.handler, call(received=aside))
        except OSError as error:
            full = functools.partial(reraise, error)
            return answered(lambda _: full(), call())
        finally:
            aside.unlink(missing_ok=True)


def reraise(error: OSError) -> None:
    """For `answered`, which knows what to say of it."""
    raise error


SAFE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def shown(status: int, answer: Any, *, head: bool) -> Response:
    """An answer as a response; each says which workspace it is from."""
    common = {"X-Databricks-Org-Id": str(WORKSPACE_ID), "X-Content-Type-Options": "nosniff"}
    if isinstance(answer, Answer):
        headers = {**answer.headers, **common}
        if answer.file is not None and not head:
            return FileResponse(answer.file, status, headers=headers)
        return Response(answer.data, status, headers=headers)
    return Response(orjson.dumps(answer), status, headers=common, media_type="application/json")


def bearer(header: str) -> str:
    """The token of an Authorization header: `Bearer …`, or Basic with the user `token`."""
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


def refuse_foreign_host(request: Request) -> None:
    """Raise Failure where a web page of another name reaches this machine (DNS rebinding)."""
    name = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
    if name not in _HOSTS:
        raise Failure(403, "PERMISSION_DENIED", "This server is for 127.0.0.1 and localhost.")


def too_large(most: int) -> Failure:
    """The answer to a body without end."""
    return Failure(413, "REQUEST_TOO_LARGE", f"The body has more than {most} bytes.")


def application(door: Door, closing: Callable[[], None]) -> Starlette:
    """The application; `closing` is called when the server shuts down."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await to_thread.run_sync(closing)

    return Starlette(routes=[Path_("/{path:path}", door.__call__, methods=_METHODS)], lifespan=lifespan)
