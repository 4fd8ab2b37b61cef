"""Requests that are never sent completely end, and idle connections do not keep others out."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn

from lakeward.workspace.http.protocol import TimedProtocol
from tests.workspace.server import Server, started


class Quick(TimedProtocol):
    head_seconds = 0.4
    body_seconds = 0.4


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the length of the body; `/slow` takes longer than the deadlines."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    if scope["path"] == "/slow":
        await asyncio.sleep(1)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"%03d" % size})


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    config = uvicorn.Config(application, http=Quick, ws="none", lifespan="off", log_level="critical")
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
    """Everything until the server closes the connection, or nothing comes for two seconds."""
    link.settimeout(2)
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
        began = time.monotonic()
        link.sendall(sent)
        answer = read(link)
    assert time.monotonic() - began < 2
    assert b"408 Request Timeout" in answer and b"REQUEST_TIMEOUT" in answer


def test_a_head_that_trickles_has_no_more_time(address: tuple[str, int]) -> None:
    with closing(socket.create_connection(address)) as link:
        began = time.monotonic()
        with suppress(OSError):  # reset or broken pipe
            while time.monotonic() - began < 3:
                link.sendall(b"G")
                time.sleep(0.05)
    assert time.monotonic() - began < 2


def test_a_slow_body_and_a_slow_answer_are_waited_for(address: tuple[str, int]) -> None:
    with closing(socket.create_connection(address)) as link:
        link.sendall(b"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nConnection: close\r\n\r\n")
        for _ in range(6):
            time.sleep(0.2)
            link.sendall(b"x")
        answer = read(link)
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"006")


def test_a_connection_is_used_again_after_the_time_of_a_head(address: tuple[str, int]) -> None:
    with closing(socket.create_connection(address)) as link:
        for _ in range(2):
            link.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            time.sleep(0.6)
            assert link.recv(4096).endswith(b"000")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Server]:
    """A server with 256 file descriptors, as on a Mac."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        server = started(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    yield server
    server.stop()


def test_idle_connections_do_not_keep_others_out(small: Server) -> None:
    parts = urlsplit(small.host)
    with ExitStack() as links:
        for number in range(600):
            link = links.enter_context(closing(socket.socket()))
            link.settimeout(5)
            link.connect((parts.hostname, parts.port))
            if number % 3:
                link.sendall(b"GET / HTTP/1.1\r\nHost:")
        began = time.monotonic()
        assert small.get("/api/2.2/jobs/list") is not None
        assert small.get("/api/2.0/preview/scim/v2/Me")["userName"]
        assert time.monotonic() - began < 5
