"""The event loop of the server."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["serve_until_told"]


class _Server(uvicorn.Server):
    """Says when it can be asked."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def origin_form(application: ASGIApp) -> ASGIApp:
    """Take `GET http://host/path` for `GET /path`, as every server has to (RFC 9112 §3.2.2).

    The legacy CLI drops the port of its host; with this server as its `http_proxy` it asks in this form.
    """

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith("/"):
            _, _, rest = scope["path"].partition("://")
            path = f"/{rest.partition('/')[2]}"
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await application(scope, receive, send)

    return served


def serve_until_told(application: Starlette, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve on `listener` until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(
        origin_form(application),
        log_level="critical",
        access_log=False,
        lifespan="on",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )
    _Server(config, ready).run(sockets=[listener])
