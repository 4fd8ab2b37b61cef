"""The workspace with TLS, for clients that know no address without it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from lakeward.workspace.http import tls
from tests.workspace.server import Server, running

ME = "/api/2.0/preview/scim/v2/Me"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    with running(root) as served:
        yield served


def answer(server: Server, address: str, verify: Any) -> requests.Response:
    headers = {"Authorization": f"Bearer {server.token}"}
    return requests.get(address + ME, headers=headers, verify=verify, timeout=30)


def received(client: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    parts = []
    try:
        while part := client.recv(4096):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_both_addresses_lead_to_one_workspace(server: Server, name: str) -> None:
    known = server.connection()
    address = known["https_host"].replace("127.0.0.1", name)
    found = answer(server, address, known["ca_file"]).json()
    assert found == answer(server, server.host, None).json()


def test_answers_have_the_address_of_the_request(server: Server) -> None:
    known = server.connection()
    for address in (known["host"], known["https_host"]):
        path, headers = "/api/2.0/sql/warehouses", {"Authorization": f"Bearer {server.token}"}
        found = requests.get(address + path, headers=headers, verify=known["ca_file"], timeout=30).json()
        place = found["warehouses"][0]["odbc_params"]
        assert f"{place['protocol']}://{place['hostname']}:{place['port']}" == address


def test_an_unknown_authority_is_refused_by_the_client(server: Server) -> None:
    with pytest.raises(requests.exceptions.SSLError):
        answer(server, server.connection()["https_host"], None)


def test_the_sdk_takes_the_variable(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = pytest.importorskip("databricks.sdk")
    known = server.connection()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", known["ca_file"])
    client = sdk.WorkspaceClient(host=known["https_host"], token=server.token)
    assert client.current_user.me().user_name


def test_a_connection_without_tls_ends(server: Server) -> None:
    """A request without TLS on the secure port gets no answer, and the next client one."""
    known = server.connection()
    port = int(known["https_host"].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 30) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b"HTTP" not in received(plain)
    assert answer(server, known["https_host"], known["ca_file"]).ok


def test_a_restart_keeps_addresses_and_authority(tmp_path: Path) -> None:
    """Configured clients go on: port, token and authority are those of the last server."""
    seen = []
    for _ in range(2):
        with running(tmp_path) as served:
            known = served.connection()
            seen.append((known, Path(known["ca_file"]).read_text()))
    assert seen[0] == seen[1]


def test_the_port_with_tls_is_chosen(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running(tmp_path, "--https-port", str(port)) as served:
        known = served.connection()
        assert known["https_host"] == f"https://127.0.0.1:{port}"
        assert answer(served, known["https_host"], known["ca_file"]).ok


def test_authorities_of_the_user_stay_trusted(tmp_path: Path) -> None:
    """A proxy's authority in SSL_CERT_FILE or REQUESTS_CA_BUNDLE is part of the file that replaces it."""
    tls.server_context(tmp_path)
    own = (tmp_path / "authority.pem").read_text()
    proxy = tmp_path / "proxy.pem"
    proxy.write_text(own.replace("A", "B"))
    for variable in tls.CA_VARIABLES:
        file = tls.write_trusted_authorities(tmp_path, {variable: str(proxy)})
        assert file.read_text() == proxy.read_text() + own
    # The file itself is no source, however often a server starts with it.
    assert tls.write_trusted_authorities(tmp_path, {"SSL_CERT_FILE": str(file)}).read_text().count(own) == 1
    assert ssl.create_default_context(cafile=tls.write_trusted_authorities(tmp_path, {})).cert_store_stats()


@pytest.mark.parametrize("damage", ["expiring", "no certificate", "no authority", "not a certificate"])
def test_a_certificate_that_cannot_be_used_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    if damage == "expiring":
        monkeypatch.setattr(tls, "_LIFETIME", timedelta(days=29))
    tls.server_context(tmp_path)
    monkeypatch.undo()
    before = (tmp_path / "server.pem").read_text()
    if damage == "no certificate":
        (tmp_path / "server.pem").unlink()
    if damage == "no authority":
        (tmp_path / "authority.pem").unlink()
    if damage == "not a certificate":
        (tmp_path / "server.pem").write_text("-")
    tls.server_context(tmp_path)
    after = (tmp_path / "server.pem").read_text()
    assert after != before
    tls.server_context(tmp_path)
    assert (tmp_path / "server.pem").read_text() == after
    assert (tmp_path / "server.pem").stat().st_mode & 0o777 == 0o600
