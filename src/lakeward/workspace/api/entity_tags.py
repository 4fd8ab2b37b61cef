"""Tags of catalogs, schemas, tables, columns and volumes, which SQL sets and information_schema lists, too.

Source: https://docs.databricks.com/api/workspace/entitytagassignments
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    Route,
    catalog_handlers,
    check_name,
    exclusively,
    invalid_parameter,
    missing,
    paginate,
)
from lakeward.object_metadata import metadata_file, read_metadata, write_metadata
from lakeward.workspace.api.securables import require_object
from lakeward.workspace.api.update_mask import read_update_mask
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

# Types of entities, with the kind of the object that has the tag and the number of parts of the name.
_TYPES = {
    "catalogs": ("catalog", 1),
    "schemas": ("schema", 2),
    "tables": ("table", 3),
    "columns": ("table", 4),
    "volumes": ("volume", 3),
}


@dataclass(frozen=True)
class _Entity:
    """An object, or a column of a table, that exists; `content` is its metadata, which `file` has."""

    kind: str
    name: str
    column: str | None
    file: Path
    content: Document

    @property
    def tags(self) -> dict[str, str]:
        """Return the values of its tags by key."""
        if self.column is None:
            return dict(self.content.get("tags") or {})
        return dict((self.content.get("column_tags") or {}).get(self.column) or {})

    def set_tags(self, tags: dict[str, str]) -> None:
        """Replace its tags."""
        if self.column is None:
            changed: Document = {"tags": tags}
        else:
            changed = {"column_tags": {**(self.content.get("column_tags") or {}), self.column: tags}}
        write_metadata(self.file, {**self.content, **changed})

    def document(self, key: str, value: str) -> dict[str, str]:
        """Return an assignment as clients read it."""
        return {"entity_type": self.kind, "entity_name": self.name, "tag_key": key, "tag_value": value}

    def require(self, key: str) -> str:
        """Return the value of a tag. Raises ApiError for one that the entity does not have."""
        value = self.tags.get(key)
        if value is None:
            raise missing(f"Tag '{key}' of {self.name}")
        return value


def list_tags(call: ServerRequest) -> Document:
    """Return the tags of an entity."""
    entity = _entity(call, *_parts(call, 2))
    found = [entity.document(key, value) for key, value in sorted(entity.tags.items())]
    return paginate(call, found, "tag_assignments", default=100)


@exclusively
def create(call: ServerRequest) -> Document:
    """Add a tag. Raises ApiError for one that the entity has."""
    entity = _entity(call, call.required("entity_type"), call.required("entity_name"))
    key, value, tags = call.required("tag_key"), call.text("tag_value"), entity.tags
    if key in tags:
        raise ApiError(409, "ALREADY_EXISTS", f"Tag '{key}' of {entity.name} already exists.")
    entity.set_tags({**tags, key: value})
    return entity.document(key, value)


def get(call: ServerRequest) -> Document:
    """Return one tag."""
    kind, name, key = _parts(call, 3)
    entity = _entity(call, kind, name)
    return entity.document(key, entity.require(key))


@exclusively
def update(call: ServerRequest) -> Document:
    """Change the value of a tag."""
    kind, name, key = _parts(call, 3)
    entity = _entity(call, kind, name)
    entity.require(key)
    read_update_mask(call.query.get("update_mask"), ("tag_value",), resource="a tag")
    value = call.text("tag_value")
    entity.set_tags({**entity.tags, key: value})
    return entity.document(key, value)


@exclusively
def delete(call: ServerRequest) -> Document:
    """Remove a tag."""
    kind, name, key = _parts(call, 3)
    entity = _entity(call, kind, name)
    entity.require(key)
    entity.set_tags({other: value for other, value in entity.tags.items() if other != key})
    return {}


def _parts(call: ServerRequest, count: int) -> list[str]:
    """Return type and name of the entity, and the key of the tag, which may contain slashes."""
    return call.path_parameter.split("/", count - 1)


def _entity(call: ServerRequest, kind: str, name: str) -> _Entity:
    """Return an entity. Raises ApiError for another type, an invalid name, and one that does not exist."""
    if kind not in _TYPES:
        raise invalid_parameter(f"'{kind[:50]}' is not a type of entity: {', '.join(_TYPES)}.")
    securable, size = _TYPES[kind]
    # The name of a column may contain dots.
    parts = name.lower().split(".", 3) if kind == "columns" else name.lower().split(".")
    if len(parts) != size:
        raise invalid_parameter(f"'{name[:200]}' is not the name of one of {kind}.")
    path = parts[:3]
    for part in path:
        check_name(part)
    require_object(call, securable, path)
    column = parts[3] if kind == "columns" else None
    if column is not None:
        table = catalog_handlers.get_table(replace(call, path_parameter=".".join(path)))
        if column not in (each["name"].lower() for each in table["columns"]):
            raise missing(f"Column '{name}'", "COLUMN_DOES_NOT_EXIST")
    file = metadata_file(catalog_handlers.warehouse_of(call), securable.upper(), path)
    return _Entity(kind, name, column, file, read_metadata(file))


_ASSIGNMENTS = "/api/2.1/unity-catalog/entity-tag-assignments"
_OF_ENTITY = f"{_ASSIGNMENTS}/{{}}/{{}}/tags"
ROUTES = (
    Route("POST", _ASSIGNMENTS, create),
    Route("GET", _OF_ENTITY, list_tags),
    Route("GET", f"{_OF_ENTITY}/{{}}", get),
    Route("PATCH", f"{_OF_ENTITY}/{{}}", update),
    Route("DELETE", f"{_OF_ENTITY}/{{}}", delete),
)
