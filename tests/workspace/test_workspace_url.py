"""`https://` before the workspace's host name, as code on the platform has it: clients × names × proxies."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import requests
import urllib3

from lakeward import databricks_shims
from lakeward.databricks_shims.defaults import DEFAULTS
from lakeward.dbutils.context import Context, JavaContext
from lakeward.session import Settings
from lakeward.workspace_connection import Connection, use_connection, write_connection_file
from tests.workspace.server import running

PATH = "/api/2.0/preview/scim/v2/Me"


def _with_requests(url: str, headers: dict[str, str]) -> Any:
    return requests.get(url + PATH, headers=headers, timeout=30).json()


def _with_a_session(url: str, headers: dict[str, str]) -> Any:
    with requests.Session() as session:
        session.headers.update(headers)
        assert session.get(url + PATH, timeout=30).ok
        return session.get(url + PATH, timeout=30).json()


def _with_urllib(url: str, headers: dict[str, str]) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url + PATH, headers=headers), timeout=30) as answer:
        return json.load(answer)


def _with_urllib3(url: str, headers: dict[str, str]) -> Any:
    with urllib3.PoolManager() as pool:
        return json.loads(pool.request("GET", url + PATH, headers=headers, timeout=30).data)


def _with_http_client(url: str, headers: dict[str, str]) -> Any:
    connection = http.client.HTTPSConnection(url.removeprefix("https://"), timeout=30)
    connection.request("GET", PATH, headers=headers)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    return found


def _with_the_sdk(url: str, headers: dict[str, str]) -> Any:
    sdk = pytest.importorskip("databricks.sdk")
    client = sdk.WorkspaceClient(host=url, token=headers["Authorization"].removeprefix("Bearer "))
    # A route that needs the server.
    assert list(client.jobs.list()) == []
    return client.current_user.me().as_dict()


def _with_httpx(url: str, headers: dict[str, str]) -> Any:
    httpx = pytest.importorskip("httpx")
    found = httpx.get(url + PATH, headers=headers, timeout=30)
    assert str(found.url) == url + PATH
    return found.json()


def _with_an_httpx_client(url: str, headers: dict[str, str]) -> Any:
    httpx = pytest.importorskip("httpx")
    with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
        client.post("/api/2.1/jobs/list", json={"limit": 1})
        return client.get(PATH).json()


def _with_an_async_httpx_client(url: str, headers: dict[str, str]) -> Any:
    httpx = pytest.importorskip("httpx")

    async def request() -> Any:
        async with httpx.AsyncClient(headers=headers, timeout=30) as client:
            return (await client.get(url + PATH)).json()

    return asyncio.run(request())


def _with_aiohttp(url: str, headers: dict[str, str]) -> Any:
    aiohttp = pytest.importorskip("aiohttp")

    async def request() -> Any:
        async with aiohttp.ClientSession(headers=headers) as session, session.get(url + PATH) as answer:
            return await answer.json()

    return asyncio.run(request())


def _with_an_aiohttp_base(url: str, headers: dict[str, str]) -> Any:
    aiohttp = pytest.importorskip("aiohttp")

    async def request() -> Any:
        async with aiohttp.ClientSession(url, headers=headers) as session, session.get(PATH) as answer:
            return await answer.json()

    return asyncio.run(request())


CLIENTS: dict[str, Callable[[str, dict[str, str]], Any]] = {
    "requests": _with_requests,
    "requests.Session": _with_a_session,
    "urllib.request": _with_urllib,
    "urllib3": _with_urllib3,
    "http.client": _with_http_client,
    "httpx": _with_httpx,
    "httpx.Client": _with_an_httpx_client,
    "httpx.AsyncClient": _with_an_async_httpx_client,
    "aiohttp": _with_aiohttp,
    "aiohttp with a base": _with_an_aiohttp_base,
    "databricks-sdk": _with_the_sdk,
}
NAMES: dict[str, Callable[[JavaContext], str]] = {
    "workspaceUrl": lambda _: DEFAULTS[0].value,
    "browserHostName": lambda context: context.browserHostName().get(),
    "tags": lambda context: context.tags().get("browserHostName").get(),
}


InWorkspace = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def in_workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InWorkspace]:
    folder = tmp_path_factory.mktemp("workspace")
    file = folder / "connection.json"
    with running(folder) as server:
        write_connection_file(file, Connection(server.host, server.token))
        yield lambda: use_connection(server.host, file)


@pytest.fixture
def shims() -> Iterator[None]:
    was_installed = databricks_shims.is_installed()
    databricks_shims.install()
    yield
    if not was_installed:
        databricks_shims.uninstall()


@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:9"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("client", CLIENTS)
def test_https_leads_to_the_local_workspace(
    in_workspace: InWorkspace,
    shims: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    client: str,
    name: str,
    proxy: str,
) -> None:
    if proxy:
        for variable in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(variable, proxy)
    with in_workspace():
        context = JavaContext(Context.of(Settings.here(tmp_path, environ={})))
        url = f"https://{NAMES[name](context)}"
        token = context.apiToken().get()
        found = CLIENTS[client](url, {"Authorization": f"Bearer {token}"})
    assert "userName" in found or "user_name" in found, found


@pytest.mark.parametrize("client", CLIENTS)
def test_a_wrong_token_is_refused(in_workspace: InWorkspace, shims: None, client: str) -> None:
    with in_workspace():
        try:
            found = CLIENTS[client]("https://lakeward.localhost", {"Authorization": "Bearer wrong"})
        except Exception as error:  # noqa: BLE001  # urllib and the SDK raise
            found = str(error)
    assert "403" in str(found) or "401" in str(found) or "token" in str(found).lower()


@pytest.mark.parametrize("client", [each for each in CLIENTS if each != "databricks-sdk"])
def test_without_a_workspace_the_error_names_what_has_one(shims: None, client: str) -> None:
    with pytest.raises(Exception, match="lakeward workspace") as raised:
        CLIENTS[client]("https://lakeward.localhost", {"Authorization": "Bearer x"})
    assert "[Errno" not in str(raised.value)


@pytest.mark.parametrize(
    "client",
    ["requests", "urllib.request", "urllib3", "http.client", "httpx", "httpx.AsyncClient", "aiohttp"],
)
def test_other_names_keep_their_certificates(in_workspace: InWorkspace, shims: None, client: str) -> None:
    """A server without TLS on another port of this machine, and with another name, is refused."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    with in_workspace(), listener:
        listener.settimeout(30)
        import threading

        seen: list[bytes] = []

        def serve() -> None:
            for _ in range(4):
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                seen.append(peer.recv(3))
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                peer.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with pytest.raises(Exception, match=r"(?i)ssl|tls"):
            CLIENTS[client](f"https://127.0.0.1:{port}", {"Authorization": "Bearer x"})
    # The first byte of a TLS handshake.
    assert seen
    assert all(each[:1] == b"\x16" for each in seen)
