"""Comment, owner and properties of catalogs, schemas and tables, in the files that SQL reads, too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.errors import ConfigurationError
from lakeward.object_metadata import metadata_file, read_metadata, schema_definition, write_metadata

_KINDS = ("", "CATALOG", "SCHEMA", "TABLE")


def read_description(warehouse: Path, full_name: str) -> dict[str, Any]:
    """Return comment, owner and properties of an object; empty for one without any."""
    parts = full_name.split(".")
    found = read_shown(metadata_file(warehouse, _KINDS[len(parts)], parts))
    described = {name: found[name] for name in ("comment", "owner", "properties") if found.get(name)}
    if len(parts) == 2:
        defined = read_shown(schema_definition(warehouse, parts))
        # Spark's catalog notes the owner among them.
        properties = {
            key: value for key, value in (defined.get("properties") or {}).items() if key != "owner"
        }
        described |= {"comment": defined["comment"]} if defined.get("comment") else {}
        described |= {"properties": properties} if properties else {}
    return described


def read_shown(path: Path) -> dict[str, Any]:
    """Return the content of a metadata file as clients see it: the comment names a file that is damaged.

    A list of objects must not fail for one of them.
    """
    try:
        found = read_metadata(path)
    except ConfigurationError as damaged:
        return {"comment": damaged.message}
    if not isinstance(found.get("properties") or {}, dict):
        return {"comment": f"{path} is damaged: its properties are not an object."}
    return found


def change_description(warehouse: Path, full_name: str, changes: Mapping[str, Any]) -> None:
    """Set `comment`, `owner` and `properties`; what `changes` does not have stays."""
    parts = full_name.split(".")
    own: dict[str, Any] = dict(changes)
    if len(parts) == 2:
        defined: dict[str, Any] = {name: own.pop(name) for name in ("comment", "properties") if name in own}
        if defined:
            _update(schema_definition(warehouse, parts), {"properties": {}}, defined)
    if own:
        _update(metadata_file(warehouse, _KINDS[len(parts)], parts), {}, own)


def _update(file: Path, default: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    write_metadata(file, {**default, **read_metadata(file), **changes})
