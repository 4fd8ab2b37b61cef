"""SQL warehouses: records next to the local one, whose process executes their statements."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.dbutils import Environment
from lakeward.session import Settings
from lakeward.workspace.api import statements, warehouses
from lakeward.workspace.context import ServerContext, ServerRequest
from lakeward.workspace.identifiers import WAREHOUSE_ID
from lakeward.workspace.state.store import Store
from tests.workspace.server import USER, Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import sql  # noqa: E402

CLIENT = "sdk/warehouses"
PATH = "/api/2.0/sql/warehouses"


def test_a_warehouse_is_created_changed_stopped_and_deleted(client: Any) -> None:
    tags = sql.EndpointTags([sql.EndpointTagPair("team", "a")])
    made = client.warehouses.create(
        name="own",
        cluster_size="Small",
        max_num_clusters=2,
        tags=tags,
        channel=sql.Channel(name=sql.ChannelName.CHANNEL_NAME_CURRENT),
        warehouse_type=sql.CreateWarehouseRequestWarehouseType.PRO,
        spot_instance_policy=sql.SpotInstancePolicy.COST_OPTIMIZED,
    ).result()
    assert (made.state, made.auto_stop_mins, made.creator_name) == (sql.State.RUNNING, 120, USER)
    assert (made.min_num_clusters, made.max_num_clusters, made.tags) == (1, 2, tags)
    assert {each.name: each.id for each in client.warehouses.list()} == {
        "local": WAREHOUSE_ID,
        "own": made.id,
    }
    client.warehouses.edit(made.id, name="other", auto_stop_mins=0).result()
    changed = client.warehouses.get(made.id)
    assert (changed.name, changed.auto_stop_mins, changed.cluster_size) == ("other", 0, "Small")
    assert client.permissions.get("warehouses", made.id).access_control_list[0].user_name == USER
    assert client.warehouses.stop(made.id).result().num_clusters == 0
    assert client.warehouses.start(made.id).result().state == sql.State.RUNNING
    assert client.warehouses.get(WAREHOUSE_ID).state == sql.State.STOPPED
    client.warehouses.delete(made.id)
    for gone in (
        client.warehouses.get,
        client.warehouses.start,
        client.warehouses.delete,
        lambda key: client.permissions.get("warehouses", key),
        lambda key: client.statement_execution.execute_statement("SELECT 1", key),
    ):
        with pytest.raises(sdk.errors.NotFound, match=f"SQL warehouse {made.id} does not exist"):
            gone(made.id)


WRONG: dict[str, dict[str, Any]] = {
    "no name": {"name": None},
    "no size": {"cluster_size": None},
    "name of 100": {"name": "x" * 100},
    "name of a number": {"name": 5},
    "size": {"cluster_size": "Tiny"},
    "type": {"warehouse_type": "FAST"},
    "policy": {"spot_instance_policy": "CHEAP"},
    "stop after a minute": {"auto_stop_mins": 1},
    "no cluster": {"min_num_clusters": 0},
    "more than most": {"min_num_clusters": 2, "max_num_clusters": 1},
    "31 at least": {"min_num_clusters": 31, "max_num_clusters": 40},
    "41 at most": {"max_num_clusters": 41},
    "name of the local one": {"name": "local"},
    "name of another": {"name": "taken"},
}


@pytest.fixture(scope="module")
def taken(server: Server) -> list[str]:
    """The ids of two warehouses."""
    names = ("taken", "changed")
    return [server.post(PATH, {"name": name, "cluster_size": "Small"})["id"] for name in names]


@pytest.mark.parametrize("case", WRONG)
def test_wrong_settings_are_refused_and_not_kept(server: Server, taken: list[str], case: str) -> None:
    before = server.get(PATH)
    good = {"name": "new", "cluster_size": "Small"}
    requests = [(PATH, good)]
    if None not in WRONG[case].values():
        requests.append((f"{PATH}/{taken[1]}/edit", {}))
    for path, body in requests:
        answer = server.answer("POST", path, {**body, **WRONG[case]})
        assert answer.status_code == 400, (path, answer.text)
    assert server.get(PATH) == before


def test_a_warehouse_has_the_address_for_drivers(client: Any, server: Server) -> None:
    for warehouse in (client.warehouses.get(WAREHOUSE_ID), next(iter(client.warehouses.list()))):
        found, host = warehouse.odbc_params, server.host.removeprefix("http://")
        assert (found.protocol, f"{found.hostname}:{found.port}") == ("http", host)
        assert found.path == f"/sql/1.0/warehouses/{WAREHOUSE_ID}"
        assert warehouse.jdbc_url == (
            f"jdbc:spark://{host}/default;transportMode=http;ssl=0;AuthMech=3;httpPath={found.path};"
        )


@pytest.mark.parametrize("key", ["0123456789abcdef", "warehouse:Serverless Starter Warehouse"])
def test_the_local_warehouse_answers_to_the_ids_of_another_workspace(client: Any, key: str) -> None:
    """An id of the platform, and a lookup by name that a bundle cannot resolve offline."""
    found = client.warehouses.get(key)
    assert (found.id, found.name, found.odbc_params.path) == (key, "local", f"/sql/1.0/warehouses/{key}")
    for change in (client.warehouses.delete, client.warehouses.edit):
        with pytest.raises(sdk.errors.NotFound, match=f"SQL warehouse {key} does not exist"):
            change(key)


def test_the_local_warehouse_stays(client: Any) -> None:
    for change in (client.warehouses.delete, client.warehouses.edit):
        with pytest.raises(sdk.errors.BadRequest, match="is this machine"):
            change(WAREHOUSE_ID)


def test_only_those_who_manage_a_warehouse_change_it(server: Server, taken: list[str]) -> None:
    body = {"application_id": "robot"}
    token = server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"]
    for method, tail in (("POST", "/edit"), ("DELETE", "")):
        answer = server.answer(method, f"{PATH}/{taken[0]}{tail}", {}, token=token)
        assert (answer.status_code, answer.json()["error_code"]) == (403, "PERMISSION_DENIED")


class Recorder:
    """Replaces the process of the warehouse, and keeps what it was to do."""

    is_running = False
    results = SimpleNamespace(remove_expired=lambda: None)

    def __init__(self) -> None:
        self.submitted: list[str] = []
        self.canceled: list[str] = []

    def submit(self, key: str, order: Any, **_: Any) -> None:
        self.submitted.append(key)

    def cancel(self, key: str) -> None:
        self.canceled.append(key)


def test_statements_start_a_warehouse_and_end_with_it(tmp_path: Path) -> None:
    store, engine = Store(tmp_path / "workspace.db"), Recorder()
    environment = Environment(settings=lambda: Settings.here(tmp_path, environ={"USER": "ada"}))
    context = ServerContext(store, None, None, engine, contexts=None, sessions=None)  # type: ignore[arg-type]  # not used here

    def call(at: str = "", **body: Any) -> ServerRequest:
        request = ServerRequest(environment, at, user="ada", context=context)
        request.__dict__["body"] = body
        return request

    key = warehouses.create(call(name="own", cluster_size="Small"))["id"]
    warehouses.stop(call(key))
    for warehouse in (key, WAREHOUSE_ID):
        statements.submit_statement(call(statement="select 1", warehouse_id=warehouse))
    assert warehouses.get(call(key))["state"] == "RUNNING"
    assert [each["warehouse_id"] for each in store.find("statement")] == [key, WAREHOUSE_ID]
    warehouses.stop(call(key))
    assert engine.canceled == engine.submitted[:1]
    store.close()


@pytest.mark.parametrize(
    ("key", "is_known"), [("0123456789abcdef", True), ("1a6e3a4d0000ffff", False), ("w", False)]
)
def test_a_warehouse_of_the_platform_need_not_exist_here(client: Any, key: str, is_known: bool) -> None:
    """Bundles and code name the warehouses of the workspace that they are deployed to."""
    if is_known:
        assert client.statement_execution.execute_statement("SELECT 1", key, wait_timeout="0s").statement_id
    else:
        with pytest.raises(sdk.errors.NotFound, match=f"SQL warehouse {key} does not exist"):
            client.statement_execution.execute_statement("SELECT 1", key)
