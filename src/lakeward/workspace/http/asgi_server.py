"""The event loop of the server."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from lakeward.workspace.http.protocol import TimedProtocol, accept_batch_size

# After a signal: responses may be completed for two seconds; the process ends after 4.5 at the latest.
_RESPONSE_SECONDS = 2
_SHUTDOWN_SECONDS = 4.5

_BACKLOG = 1024


class _Server(uvicorn.Server):
    """Calls `ready` when it accepts requests, and `stopping` in a thread before it shuts down.

    A shutdown never takes longer than five seconds, whatever clients and handlers do.
    """

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready, self._stopping = ready, stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        # Threads that are busy would keep the interpreter alive.
        deadline = threading.Timer(_SHUTDOWN_SECONDS, os._exit, [128 + sig])
        deadline.daemon = True
        deadline.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Ends what requests are waiting for, so that they are answered before their connections close.
        await to_thread.run_sync(self._stopping)
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            # uvicorn's backlog is also the number of connections that are accepted at once: see below.
            listener.listen(_BACKLOG)
        asyncio.get_running_loop().set_exception_handler(report)
        self._ready()


def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error of the event loop, except that no connection can be accepted: it is retried."""
    error = context.get("exception")
    if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
        loop.default_exception_handler(context)


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


def serve_until_stopped(
    application: Starlette,
    listener: socket.socket,
    ready: Callable[[], None],
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve on `listener` until Ctrl-C or SIGTERM; `stopping` is called before connections are closed."""
    config = uvicorn.Config(
        origin_form(application),
        http=TimedProtocol,
        ws="none",
        backlog=accept_batch_size(),
        log_level="critical",
        access_log=False,
        lifespan="on",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_RESPONSE_SECONDS,
    )
    _Server(config, ready, stopping).run(sockets=[listener])
