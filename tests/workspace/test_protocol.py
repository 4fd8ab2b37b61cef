"""Requests that are never sent completely end, and idle connections do not keep others out."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn

from lakeward.workspace.http.asgi_server import TimedProtocol
from tests.workspace.server import Server, started, until

ANSWER = threading.Event()


class Quick(TimedProtocol):
    """Deadlines that expire soon: for requests that are never completed."""

    head_seconds = 0.4
    body_seconds = 0.4


class Recorded(TimedProtocol):
    """Deadlines that do not expire during a test, and how often each was set."""

    head_seconds = body_seconds = 600
    heads = bodies = 0
    watched = False

    def _set_deadline(self, *, is_body: bool) -> None:
        super()._set_deadline(is_body=is_body)
        Recorded.heads += not is_body
        Recorded.bodies += is_body
        Recorded.watched = True

    def _clear_deadline(self) -> None:
        super()._clear_deadline()
        Recorded.watched = False


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the length of the body; `/slow` does so once `ANSWER` is set."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    while scope["path"] == "/slow" and not ANSWER.is_set():
        await asyncio.sleep(0.01)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"%03d" % size})


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with serving(Quick) as address:
        yield address


@pytest.fixture
def recorded() -> Iterator[tuple[str, int]]:
    Recorded.heads = Recorded.bodies = 0
    with serving(Recorded) as address:
        yield address


@contextmanager
def serving(protocol: type[TimedProtocol]) -> Iterator[tuple[str, int]]:
    config = uvicorn.Config(application, http=protocol, ws="none", lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()
        server.should_exit = True
        thread.join(10)


def read(link: socket.socket) -> bytes:
    """Everything until the server closes the connection, or nothing comes for a minute."""
    link.settimeout(60)
    data = b""
    try:
        while more := link.recv(4096):
            data += more
    except TimeoutError:
        return data + b" (open)"
    return data


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET",
        b"GET / HTTP/1.1\r\nHost: a\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT",
    ],
    ids=["nothing", "method", "head", "no body", "half a body", "half a chunk", "second request"],
)
def test_a_half_sent_request_ends(address: tuple[str, int], sent: bytes) -> None:
    with closing(socket.create_connection(address)) as link:
        link.sendall(sent)
        answer = read(link)
    assert not answer.endswith(b"(open)")
    assert b"408 Request Timeout" in answer and b"REQUEST_TIMEOUT" in answer


def test_a_head_that_trickles_has_no_more_time(address: tuple[str, int]) -> None:
    def trickle(link: socket.socket) -> None:
        for _ in range(1200):
            link.sendall(b"G")
            time.sleep(0.05)

    with closing(socket.create_connection(address)) as link, pytest.raises(ConnectionError):
        trickle(link)


def test_a_slow_body_and_a_slow_answer_are_waited_for(recorded: tuple[str, int]) -> None:
    """Each part of a body has a deadline of its own, and an answer has none."""
    ANSWER.clear()
    with closing(socket.create_connection(recorded)) as link:
        link.sendall(b"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nConnection: close\r\n\r\n")
        until(lambda: Recorded.bodies == 1)
        for part in range(2, 7):
            link.sendall(b"x")
            until(lambda part=part: Recorded.bodies == part)
        assert Recorded.watched
        link.sendall(b"x")
        until(lambda: not Recorded.watched)
        ANSWER.set()
        answer = read(link)
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"006")
    assert (Recorded.heads, Recorded.bodies) == (1, 6)


def test_a_connection_between_two_requests_has_no_deadline_of_a_head(recorded: tuple[str, int]) -> None:
    with closing(socket.create_connection(recorded)) as link:
        for _ in range(2):
            link.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            answer = b""
            while not answer.endswith(b"000"):
                more = link.recv(4096)
                assert more, "closed"
                answer += more
            until(lambda: not Recorded.watched)
        link.sendall(b"GET /")
        until(lambda: Recorded.watched)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Server]:
    """A server with 256 file descriptors, as on a Mac."""
    server = started(tmp_path, descriptors=256)
    yield server
    server.stop()


def test_idle_connections_do_not_keep_others_out(small: Server) -> None:
    parts = urlsplit(small.host)
    with ExitStack() as stack:
        links = []
        for number in range(600):
            link = stack.enter_context(closing(socket.socket()))
            link.settimeout(60)
            link.connect((parts.hostname, parts.port))
            if number % 3:
                link.sendall(b"GET / HTTP/1.1\r\nHost:")
            links.append(link)
        assert small.get("/api/2.2/jobs/list") is not None
        assert small.get("/api/2.0/preview/scim/v2/Me")["userName"]
        # Closed to make room. A deadline would have closed them with an answer, and let others in after 20 s.
        assert sum(map(is_closed_without_an_answer, links)) > 400


def is_closed_without_an_answer(link: socket.socket) -> bool:
    link.setblocking(False)
    try:
        return not link.recv(100)
    except ConnectionResetError:
        return True
    except BlockingIOError:
        return False
