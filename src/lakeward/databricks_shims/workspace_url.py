"""`https://` before the host name of the workspace leads to the local workspace, which has no certificate.

Code on the platform joins `https://` and `spark.databricks.workspaceUrl`, or the `browserHostName` of the
notebook context. Here both name a server on loopback without TLS. Connections to these names, and to no
others, are made without it: those of `urllib`, `http.client`, urllib3 and what is built on them (requests,
databricks-sdk), of httpx and of aiohttp.

databricks-sql-connector joins `https://`, the host that it is given and port 443. It gets the name above in
place of any other spelling of the workspace's address.
"""

from __future__ import annotations

import functools
import socket
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from lakeward import patching
from lakeward.patching import PatchSpec, Wrapped
from lakeward.workspace_connection import NO_WORKSPACE, process_host

_NAME = urlsplit(NO_WORKSPACE.host).hostname


def patch_connections(module: ModuleType) -> None:
    """Patch an imported module of PATCHES."""
    patching.install(_specs(module))


def restore_connections(module: ModuleType) -> None:
    """Restore the module; open connections are not affected."""
    patching.uninstall(_specs(module))


def _specs(module: ModuleType) -> list[PatchSpec]:
    return [spec for spec in PATCHES if spec.owner.startswith(f"{module.__name__}:")]


def _local_address(host: str, port: int | None) -> tuple[str, int] | None:
    """Return where the local workspace listens if `host` and `port` mean it, else None.

    Raises ConnectionError if this process has no workspace.
    """
    server = urlsplit(process_host() or "")
    if server.hostname and server.port:
        is_named = host == _NAME or (host, port) == (server.hostname, server.port)
        return (server.hostname, server.port) if is_named else None
    if host == _NAME:
        raise ConnectionError(
            f"{host} is the name of the local workspace, and this process has none. `lakeward run`, "
            "`notebook` and `pipeline` have one; `lakeward workspace` serves one for other programs."
        )
    return None


def _without_tls(before: Wrapped) -> Any:
    @functools.wraps(before)
    def connect(self: Any) -> None:
        # Proxies do not see names of this machine.
        tunnel = getattr(self, "_tunnel_host", None)
        host, port = (tunnel, self._tunnel_port) if tunnel else (self.host, self.port)
        address = _local_address(host, port)
        if address is None:
            before(self)
            return
        timeout = self.timeout
        self.sock = (
            socket.create_connection(address, timeout)
            if isinstance(timeout, (int, float)) or timeout is None
            else socket.create_connection(address)
        )
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # urllib3 warns of connections whose certificate was not verified.
        self.is_verified = True

    return connect


def _httpx_direct(before: Wrapped) -> Any:
    @functools.wraps(before)
    def transport_for_url(self: Any, url: Any) -> Any:
        # Proxies do not see names of this machine; those of the environment are other transports.
        return self._transport if _is_local(url) else before(self, url)

    return transport_for_url


def _httpx_sent(before: Wrapped) -> Any:
    @functools.wraps(before)
    def handle_request(self: Any, request: Any) -> Any:
        return before(self, _httpx_without_tls(request))

    return handle_request


def _httpx_without_tls(request: Any) -> Any:
    """Return the request, or the one to the local workspace; raises ConnectError without a workspace."""
    import httpx  # type: ignore[import-not-found,unused-ignore]

    url = request.url
    try:
        address = _local_address(url.host, url.port) if url.scheme == "https" else None
    except ConnectionError as error:
        raise httpx.ConnectError(str(error), request=request) from None
    if address is None:
        return request
    return httpx.Request(
        request.method,
        url.copy_with(scheme="http", host=address[0], port=address[1]),
        headers=request.headers,
        stream=request.stream,
        extensions=request.extensions,
    )


def _aiohttp_url(before: Wrapped) -> Any:
    @functools.wraps(before)
    def build_url(self: Any, str_or_url: Any) -> Any:
        import aiohttp  # type: ignore[import-not-found,unused-ignore]

        url = before(self, str_or_url)
        try:
            address = _local_address(url.host, url.explicit_port) if url.scheme == "https" else None
        except ConnectionError as error:
            raise aiohttp.ClientConnectionError(str(error)) from None
        return url if address is None else url.with_scheme("http").with_host(address[0]).with_port(address[1])

    return build_url


def _is_local(url: Any) -> bool:
    try:
        return url.scheme == "https" and _local_address(url.host, url.port) is not None
    except ConnectionError:
        return True


def _sql_connection(before: Wrapped) -> Any:
    @functools.wraps(before)
    def __init__(self: Any, server_hostname: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        before(self, _NAME if _names_workspace(server_hostname) else server_hostname, *args, **kwargs)

    return __init__


def _names_workspace(host: Any) -> bool:
    """Return whether a text is the address of the local workspace: with or without scheme, port and slash."""
    if not isinstance(host, str):
        return False
    try:
        given = urlsplit(host if "://" in host else f"//{host}")
        port = given.port
    except ValueError:
        return False
    server = urlsplit(process_host() or "")
    if given.hostname == _NAME:
        return True
    # `Config.hostname` of databricks-sdk has no port.
    return bool(server.hostname) and given.hostname == server.hostname and port in (None, 443, server.port)


_REASON = "https:// before the host name of the workspace leads to the local workspace"
PATCHES = (
    PatchSpec("http.client:HTTPSConnection", "connect", "shims", _REASON, _without_tls),
    PatchSpec("urllib3.connection:HTTPSConnection", "connect", "shims", _REASON, _without_tls),
    *(
        PatchSpec(f"httpx:{client}", "_transport_for_url", "shims", _REASON, _httpx_direct)
        for client in ("Client", "AsyncClient")
    ),
    PatchSpec("httpx:HTTPTransport", "handle_request", "shims", _REASON, _httpx_sent),
    PatchSpec("httpx:AsyncHTTPTransport", "handle_async_request", "shims", _REASON, _httpx_sent),
    PatchSpec("aiohttp.client:ClientSession", "_build_url", "shims", _REASON, _aiohttp_url),
    PatchSpec("databricks.sql.client:Connection", "__init__", "shims", _REASON, _sql_connection),
)
PATCHED_MODULES = tuple(dict.fromkeys(spec.owner.partition(":")[0] for spec in PATCHES))
