"""The event loop of the server, and HTTP/1.1 with deadlines for incomplete requests.

uvicorn limits the time between requests alone. A client that opens connections and sends nothing, or half a
request, would hold their file descriptors for ever, and with them the server's ability to accept others.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import resource
import socket
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, ClassVar

import h11
import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from lakeward.workspace.http.listeners import Listeners
from lakeward.workspace.http.tls import SecureListener

# After a signal: responses may be completed for two seconds; the process ends after 4.5 at the latest.
_RESPONSE_SECONDS = 2
_SHUTDOWN_SECONDS = 4.5
_BACKLOG = 1024


class _Server(uvicorn.Server):
    """Calls `ready` when it accepts requests, and `stopping` in a thread before it shuts down.

    A shutdown never takes longer than five seconds, whatever clients and handlers do.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], None],
        stopping: Callable[[], None],
        secure: SecureListener | None,
    ) -> None:
        super().__init__(config)
        self._ready, self._stopping, self._secure = ready, stopping, secure

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
        if self._secure is not None:
            await self._listen_with_tls(self._secure)
        for listener in (*(sockets or ()), *([self._secure.socket] if self._secure else ())):
            # uvicorn's backlog is also the number of connections that are accepted at once: see below.
            listener.listen(_BACKLOG)
        asyncio.get_running_loop().set_exception_handler(report)
        self._ready()

    async def _listen_with_tls(self, secure: SecureListener) -> None:
        """Accept connections on a second socket: uvicorn has TLS on all sockets or on none."""
        server = await asyncio.get_running_loop().create_server(
            partial(
                TimedProtocol,
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            ),
            sock=secure.socket,
            ssl=secure.context,
            ssl_handshake_timeout=TimedProtocol.head_seconds,
            backlog=self.config.backlog,
        )
        self.servers.append(server)


def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error of the event loop, except that no connection can be accepted: it is retried."""
    error = context.get("exception")
    if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
        loop.default_exception_handler(context)


def origin_form(application: ASGIApp) -> ASGIApp:
    """Rewrite `GET http://host/path` to `GET /path`, as RFC 9112 §3.2.2 requires.

    The legacy CLI drops the port of its host; as its `http_proxy`, this server gets this form.
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
    listeners: Listeners,
    ready: Callable[[], None],
    stopping: Callable[[], None],
) -> None:
    """Serve on the listeners until Ctrl-C or SIGTERM.

    Args:
        application: What answers.
        listeners: The sockets to accept connections on.
        ready: Called when requests are accepted.
        stopping: Called before connections are closed.
    """
    config = uvicorn.Config(
        origin_form(application),
        http=TimedProtocol,
        ws="none",
        backlog=_accept_batch_size(),
        log_level="critical",
        access_log=False,
        lifespan="on",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_RESPONSE_SECONDS,
    )
    _Server(config, ready, stopping, listeners.https).run(sockets=[listeners.http])


class TimedProtocol(H11Protocol):
    """One connection. A head has `head_seconds` from its first byte, a body `body_seconds` between its parts.

    Above the maximum the connection that was idle longest is closed for each new one.
    """

    head_seconds: ClassVar[float] = 20.0
    body_seconds: ClassVar[float] = 60.0

    _deadline: asyncio.TimerHandle | None = None
    _is_body = False
    _idle_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._set_deadline(is_body=False)
        self._close_idle()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Set the deadline of what the client has begun to send."""
        if self.conn.their_state is h11.SEND_BODY:
            self._set_deadline(is_body=True)
        elif self.conn.their_state is not h11.IDLE or not self.conn.trailing_data[0]:
            self._clear_deadline()
        elif self._deadline is None or self._is_body:
            self._set_deadline(is_body=False)

    def _set_deadline(self, *, is_body: bool) -> None:
        self._clear_deadline()
        self._is_body = is_body
        seconds = self.body_seconds if is_body else self.head_seconds
        self._deadline = self.loop.call_later(seconds, self._expire)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        if self._is_body and self.flow.read_paused:
            # The handler is slow, not the client.
            self._set_deadline(is_body=True)
            return
        self._deadline = None
        if not self._is_responding():
            self.transport.write(_TIMEOUT)
        self.transport.close()

    def _is_responding(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and cycle.response_started and not cycle.response_complete

    def _is_idle(self) -> bool:
        """Return whether no request is being received or answered; an incomplete head counts as idle."""
        cycle: RequestResponseCycle | None = self.cycle
        return self.conn.their_state is h11.IDLE and (cycle is None or cycle.response_complete)

    def _close_idle(self) -> None:
        surplus = len(self.connections) - _max_connections()
        if surplus <= 0:
            return
        idle = [each for each in self.connections if isinstance(each, TimedProtocol) and each._is_idle()]
        for each in sorted(idle, key=lambda connection: connection._idle_since)[:surplus]:
            self.connections.discard(each)
            each.transport.close()


def _max_connections() -> int:
    """Return how many connections leave enough file descriptors for files and processes."""
    return max(16, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


def _accept_batch_size() -> int:
    """Return how many connections to accept in one turn of the event loop.

    A surplus connection is closed some turns after it was accepted; meanwhile the limit must not be reached.
    """
    return max(1, min(128, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 16))


def _timeout() -> bytes:
    body = json.dumps(
        {"error_code": "REQUEST_TIMEOUT", "message": "The request was not sent completely in time."}
    )
    head = (
        "HTTP/1.1 408 Request Timeout",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    )
    return "\r\n".join([*head, "", body]).encode()


_TIMEOUT = _timeout()
