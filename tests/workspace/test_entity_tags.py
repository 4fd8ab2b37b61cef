"""Tags of objects by the client: types of entities × create, read, change, remove, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.server import Server
from tests.workspace.test_catalog_objects import write_table

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.errors import BadRequest, NotFound, ResourceConflict  # noqa: E402
from databricks.sdk.service.catalog import EntityTagAssignment, VolumeType  # noqa: E402

CLIENT = "sdk/entity_tags"
ENTITIES = {
    "catalogs": "main",
    "schemas": "main.tagged",
    "tables": "main.tagged.sales",
    "columns": "main.tagged.sales.price",
    "volumes": "main.tagged.files",
}


@pytest.fixture(scope="module")
def folder(server: Server) -> Path:
    server.post("/api/2.1/unity-catalog/schemas", {"catalog_name": "main", "name": "tagged"})
    folder = server.state / "warehouse" / "main" / "tagged"
    write_table(folder, "sales")
    return folder


@pytest.fixture
def tags(client: Any, folder: Path) -> Any:
    if "files" not in [each.name for each in client.volumes.list("main", "tagged")]:
        client.volumes.create("main", "tagged", "files", VolumeType.MANAGED)
    return client.entity_tag_assignments


def tag(kind: str, name: str, key: str, value: str | None = None) -> EntityTagAssignment:
    return EntityTagAssignment(entity_type=kind, entity_name=name, tag_key=key, tag_value=value)


def found(tags: Any, kind: str, name: str) -> dict[str, str]:
    return {each.tag_key: each.tag_value for each in tags.list(kind, name)}


@pytest.mark.parametrize("kind", ENTITIES)
def test_tags_of_every_type_of_entity(tags: Any, kind: str) -> None:
    name = ENTITIES[kind]
    made = tags.create(tag(kind, name, "team", "data"))
    assert (made.entity_type, made.entity_name, made.tag_key, made.tag_value) == (kind, name, "team", "data")
    tags.create(tag(kind, name.upper(), "pii"))
    assert found(tags, kind, name) == found(tags, kind, name.upper()) == {"team": "data", "pii": ""}
    changed = tags.update(kind, name, "team", tag(kind, name, "team", "sales"), update_mask="tag_value")
    assert changed.tag_value == tags.get(kind, name, "team").tag_value == "sales"
    tags.delete(kind, name, "pii")
    assert found(tags, kind, name) == {"team": "sales"}
    tags.delete(kind, name, "team")
    assert found(tags, kind, name) == {}


def test_entities_have_tags_of_their_own_where_sql_keeps_them(tags: Any, folder: Path) -> None:
    for kind, name in ENTITIES.items():
        tags.create(tag(kind, name, "own", kind))
    kept = json.loads((folder / ".objects" / "sales.table.about.json").read_text())
    assert (kept["tags"], kept["column_tags"]) == ({"own": "tables"}, {"price": {"own": "columns"}})
    for kind, name in ENTITIES.items():
        assert found(tags, kind, name) == {"own": kind}
        tags.delete(kind, name, "own")


@pytest.mark.parametrize("kind", ENTITIES)
def test_what_is_refused(tags: Any, kind: str) -> None:
    name = ENTITIES[kind]
    tags.create(tag(kind, name, "once"))
    with pytest.raises(ResourceConflict):
        tags.create(tag(kind, name, "once"))
    tags.delete(kind, name, "once")
    for call in (
        lambda: tags.get(kind, name, "once"),
        lambda: tags.delete(kind, name, "once"),
        lambda: tags.update(kind, name, "once", tag(kind, name, "once", "x"), update_mask="tag_value"),
        lambda: tags.create(tag(kind, f"{name}x", "once")),
        lambda: list(tags.list(kind, f"{name}x")),
    ):
        with pytest.raises(NotFound):
            call()
    for wrong in (tag(kind, f"{name}.a.b.c" if kind != "columns" else "main.x", "k"), tag("rows", name, "k")):
        with pytest.raises(BadRequest):
            tags.create(wrong)
    with pytest.raises(BadRequest):
        tags.create(tag(kind, name, ""))
