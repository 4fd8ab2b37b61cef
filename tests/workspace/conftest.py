"""One server a module: starting it takes most of a second."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lakeward import databricks_shims
from lakeward.workspace.state.store import Store
from lakeward.workspace_connection import Connection, use_connection, write_connection_file
from tests.processes import SharedDaemon
from tests.workspace.client_routes import declared, update
from tests.workspace.response_types import checked_responses
from tests.workspace.server import WAREHOUSE, Server, running

# How clients tell of themselves.
_AGENTS = {"sdk": "databricks-sdk-py", "legacy": "databricks-cli-", "bundle": "bundle-replay"}
_AGENTS |= {"http": "python-requests", "spark": _AGENTS["sdk"], "sql": "PyDatabricksSqlConnector/"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, shared_daemon: SharedDaemon) -> Iterator[Server]:
    # In a folder of its own: tests look for changes around it.
    root = tmp_path_factory.mktemp("workspace") / "project"
    root.mkdir()
    with running(root, daemon=shared_daemon) as served:
        yield served


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    """The official client of that server; all responses have the types that it declares."""
    from databricks.sdk import WorkspaceClient

    with checked_responses() as differences:
        yield WorkspaceClient(host=server.host, token=server.token)
    assert not differences, "\n".join(sorted(set(differences)))


@pytest.fixture(scope="module")
def connect(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Connections of databricks-sql-connector as code of a run makes them: with no address."""
    sql = pytest.importorskip("databricks.sql", reason="databricks-sql-connector is not installed")
    file = tmp_path_factory.mktemp("connection") / "connection.json"
    write_connection_file(file, Connection(server.host, server.token))
    opened = ExitStack()

    def connect(**options: Any) -> Any:
        given = {
            "server_hostname": "lakeward.localhost",
            "http_path": WAREHOUSE,
            "access_token": server.token,
        }
        connection = sql.connect(**{**given, **options})
        opened.callback(connection.close)
        return connection

    was_installed = databricks_shims.is_installed()
    databricks_shims.install()
    with use_connection(server.host, file), opened:
        yield connect
    if not was_installed:
        databricks_shims.uninstall()


@pytest.fixture(scope="module", autouse=True)
def _asks_for_what_is_declared(request: pytest.FixtureRequest) -> Iterator[None]:
    """A suite that represents a client asks for every route that the table says it does."""
    client = getattr(request.module, "CLIENT", None)
    options = request.config.option
    whole = not (options.keyword or any("::" in argument for argument in request.config.args))
    if client is None or not whole:
        yield
        return
    served: Server = request.getfixturevalue("server")
    yield
    requested = {
        line["route"]
        for line in served.requests()
        if line.get("route") and line["status"] == 200 and _AGENTS[client.partition("/")[0]] in line["agent"]
    }
    if os.environ.get("UPDATE_CLIENT_ROUTES"):
        update(client, requested)
    expected = declared().get(client, set())
    difference = sorted(requested ^ expected)
    hint = f"run this suite with UPDATE_CLIENT_ROUTES=1 to declare the routes it requests: {difference}"
    # Without the long proofs, or with nothing but them, a suite asks for less.
    assert requested <= expected if options.markexpr else requested == expected, hint


@pytest.fixture(autouse=True)
def _close_stores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test opens: from Python 3.13 on, a forgotten connection to SQLite is a warning."""
    opened: list[Store] = []
    initialize = Store.__init__

    def noted(self: Store, *arguments: Any, **options: Any) -> None:
        initialize(self, *arguments, **options)
        opened.append(self)

    monkeypatch.setattr(Store, "__init__", noted)
    yield
    for store in opened:
        store.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty folder for a server."""
    return tmp_path
