"""Requests of the Pipelines API: filters, dry runs, conflicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lakeward.session import Settings
from lakeward.sql import Refresh, StandaloneTable
from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import pipelines  # noqa: E402

NAMES = ("sales daily", "sales hourly", "100%", "stock")


def library(path: str) -> list[Any]:
    return [pipelines.PipelineLibrary(notebook=pipelines.NotebookLibrary(path=path))]


@pytest.fixture(scope="module")
def made(client: Any) -> Iterator[dict[str, str]]:
    ids = {
        name: client.pipelines.create(name=name, libraries=library(f"/Shared/{name}")).pipeline_id
        for name in NAMES
    }
    yield ids
    for pipeline_id in ids.values():
        client.pipelines.delete(pipeline_id)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", NAMES),
        ("name LIKE 'sales%'", ("sales daily", "sales hourly")),
        ("name LIKE '%aily'", ("sales daily",)),
        ("name LIKE '%a%'", ("sales daily", "sales hourly")),
        ("name like 'stoc_'", ("stock",)),
        ("name LIKE 'stoc'", ()),
        ("notebook='/Shared/stock'", ("stock",)),
        ("notebook = '/Shared/none'", ()),
    ],
)
def test_filters_select_pipelines(client: Any, made: Any, text: str, names: tuple[str, ...]) -> None:
    found = [each.name for each in client.pipelines.list_pipelines(filter=text, max_results=1)]
    assert sorted(found) == sorted(names)


def test_other_filters_are_refused(client: Any, made: Any) -> None:
    with pytest.raises(sdk.errors.InvalidParameterValue, match="name LIKE"):
        list(client.pipelines.list_pipelines(filter="state = 'IDLE'"))


def test_a_dry_run_creates_nothing(client: Any, made: Any) -> None:
    answer = client.pipelines.create(name="dry", libraries=library("/x"), dry_run=True)
    assert answer.pipeline_id is None and answer.effective_settings.name == "dry"
    assert not list(client.pipelines.list_pipelines(filter="name LIKE 'dry'"))


def test_pipelines_of_standalone_tables_are_shown(client: Any, server: Server) -> None:
    """Clients, such as dbt, wait for the state of the pipeline that the table's property names."""
    settings = Settings(server.root, server.state.parent)
    table = StandaloneTable("materialized_view", ("main", "shop", "m"), "CREATE …", "main", "shop")
    states = {}
    for state in ("COMPLETED", "FAILED"):
        ended = "2026-01-01T00:00:00+00:00"
        table.after_refresh(Refresh(state, ended, update_id=f"u-{state}")).save(settings)
        found = client.pipelines.get("MV-main.shop.m")
        states[state] = found.state.value, [each.update_id for each in found.latest_updates]
        assert (found.name, found.spec.catalog, found.spec.schema) == ("MV-main.shop.m", "main", "shop")
    assert states == {"COMPLETED": ("IDLE", ["u-COMPLETED"]), "FAILED": ("FAILED", ["u-FAILED"])}
    assert [each.name for each in client.pipelines.list_pipelines(filter="name LIKE 'MV-%'")] == [
        "MV-main.shop.m"
    ]
    event = {
        "event_type": "update_progress",
        "level": "ERROR",
        "origin": {"update_id": "u-FAILED"},
        "details": {"update_progress": {"state": "FAILED"}},
    }
    lines = [
        json.dumps({**event, "id": str(n), "timestamp": f"2026-01-01T00:00:0{n}", "message": f"{n}"})
        for n in range(2)
    ]
    (table.folder(settings) / "events.jsonl").write_text("\n".join(lines) + "\n")
    events = client.pipelines.list_pipeline_events("MV-main.shop.m", filter="level = 'ERROR'")
    assert [each.message for each in events] == ["1", "0"]
    name, second = "MV-main.shop.m", 1_767_225_600_000
    update = client.pipelines.get_update(name, "u-FAILED").update
    assert (update.state.value, update.pipeline_id, update.creation_time) == ("FAILED", name, second)
    assert [each.update_id for each in client.pipelines.list_updates(name).updates] == ["u-FAILED"]
    with pytest.raises(sdk.errors.NotFound, match="u-OTHER"):
        client.pipelines.get_update(name, "u-OTHER")
    client.pipelines.stop(name)  # no update is active
    table.remove(settings)
    for missing in (name, "MV-..", "MV-"):
        with pytest.raises(sdk.errors.NotFound):
            client.pipelines.get(missing)


def test_an_update_does_not_take_the_name_of_another(client: Any, made: dict[str, str]) -> None:
    with pytest.raises(sdk.errors.ResourceConflict):
        client.pipelines.update(made["stock"], name="100%")
    client.pipelines.update(made["stock"], name="100%", allow_duplicate_names=True)
    client.pipelines.update(made["stock"], name="100%")
    client.pipelines.update(made["stock"], name="stock", libraries=library("/Shared/stock"))


def test_an_update_of_old_settings_is_a_conflict(client: Any, made: dict[str, str]) -> None:
    seen = client.pipelines.get(made["stock"]).last_modified
    client.pipelines.update(made["stock"], name="stock", expected_last_modified=seen, development=True)
    with pytest.raises(sdk.errors.ResourceConflict):
        client.pipelines.update(made["stock"], name="stock", expected_last_modified=seen - 1)
    assert client.pipelines.get(made["stock"]).spec.development
    client.pipelines.update(made["stock"], name="stock", libraries=library("/Shared/stock"))


def test_a_page_has_at_most_100_pipelines(client: Any) -> None:
    assert list(client.pipelines.list_pipelines(max_results=100)) is not None
    with pytest.raises(sdk.errors.InvalidParameterValue, match="max_results cannot be '101'"):
        list(client.pipelines.list_pipelines(max_results=101))
