"""HTTP/1.1 with deadlines for incomplete requests, and with a limit of idle connections.

uvicorn limits the time between requests alone. A client that opens connections and sends nothing, or half a
request, would hold their file descriptors for ever, and with them the server's ability to accept others.
"""

from __future__ import annotations

import asyncio
import json
import resource
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle


class TimedProtocol(H11Protocol):
    """One connection. A head has `head_seconds` from its first byte, a body `body_seconds` between its parts.

    Above `most_connections` the connection that was idle longest is closed for each new one.
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
        """Whether no request is being answered or sent; half a head counts as idle."""
        cycle: RequestResponseCycle | None = self.cycle
        return self.conn.their_state is h11.IDLE and (cycle is None or cycle.response_complete)

    def _close_idle(self) -> None:
        surplus = len(self.connections) - max_connections()
        if surplus <= 0:
            return
        idle = [each for each in self.connections if isinstance(each, TimedProtocol) and each._is_idle()]
        for each in sorted(idle, key=lambda connection: connection._idle_since)[:surplus]:
            self.connections.discard(each)
            each.transport.close()


def max_connections() -> int:
    """Return how many connections leave enough file descriptors for files and processes."""
    return max(16, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


def accept_batch_size() -> int:
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
