"""Tables and views of a schema, read from the warehouse folder without Spark.

A Delta table is described by its log. Views, external tables and other formats are described by JSON files
in `.objects`, which sessions write.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeward.atomic_files import read_json_object
from lakeward.dataset_properties import table_type
from lakeward.delta_log import read_metadata
from lakeward.dropped_files import keep_dropped
from lakeward.errors import LakewardError
from lakeward.file_uris import local_folder
from lakeward.object_metadata import OBJECTS
from lakeward.session import is_private_table

_SQL_NAMES = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}
_TYPE_NAMES = {
    "INTEGER": "INT",
    "BIGINT": "LONG",
    "TINYINT": "BYTE",
    "SMALLINT": "SHORT",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "VARCHAR": "STRING",
    "VOID": "NULL",
}
_FIRST_WORD = re.compile(r"\w*")


def type_name(text: str) -> str:
    """Return the ColumnTypeName of the API for a type as SQL.

    >>> type_name("decimal(5,2)"), type_name("bigint"), type_name("interval day to second")
    ('DECIMAL', 'LONG', 'INTERVAL')
    """
    found = _FIRST_WORD.match(text.strip().upper())
    name = found[0] if found else ""
    return _TYPE_NAMES.get(name, name)


def stored_type_text(kind: Any) -> str:
    """Return a type of Spark's JSON form as SQL, like `DataType.simpleString()`.

    >>> stored_type_text({"type": "array", "elementType": "integer", "containsNull": True})
    'array<int>'
    """
    if isinstance(kind, str):
        return _SQL_NAMES.get(kind, kind)
    if not isinstance(kind, dict):
        return "void"
    if kind.get("type") == "array":
        return f"array<{stored_type_text(kind.get('elementType'))}>"
    if kind.get("type") == "map":
        return f"map<{stored_type_text(kind.get('keyType'))},{stored_type_text(kind.get('valueType'))}>"
    if kind.get("type") == "struct":
        fields = kind.get("fields") or ()
        inner = ",".join(f"{each.get('name')}:{stored_type_text(each.get('type'))}" for each in fields)
        return f"struct<{inner}>"
    return stored_type_text(kind.get("sqlType"))


@dataclass(frozen=True)
class TableFacts:
    """What is known of a table: its type, format, columns as the API has them, and properties."""

    table_type: str
    data_source_format: str
    columns: list[dict[str, Any]] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    comment: str = ""
    table_id: str = ""
    created_at: int = 0
    updated_at: int = 0
    view_definition: str = ""
    storage_location: str = ""


def table_names(schema: Path) -> list[str]:
    """Return the names of tables and views in a schema's folder, sorted."""
    names = set()
    if schema.is_dir():
        names = {each.name for each in schema.iterdir() if not each.name.startswith(".") and _has_log(each)}
        for each in (schema / OBJECTS).glob("*.json"):
            name, _, kind = each.name.removesuffix(".json").rpartition(".")
            if name and kind in ("table", "view") and not name.startswith("."):
                names.add(name)
    return sorted(name for name in names if not is_private_table(name))


def is_table(schema: Path, name: str) -> bool:
    """Return whether a table or view exists."""
    return _has_log(schema / name) or any(_described(schema, name))


class DamagedTable(Exception):
    """A file that describes a table cannot be read; the text names it."""


def read_table(schema: Path, name: str) -> TableFacts:
    """Return what is known of a table. Raises DamagedTable."""
    file = next((file for _, file in _described(schema, name)), schema / name / "_delta_log")
    try:
        facts = _facts(schema, name)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        facts = None
    if facts is None:
        raise DamagedTable(f"{file} is damaged")
    return facts


def _facts(schema: Path, name: str) -> TableFacts | None:
    """Return the document of a table, None if it cannot be read."""
    for kind, file in _described(schema, name):
        found = read_json_object(file)
        return _from_object(kind, found, file) if found else None
    try:
        metadata = read_metadata(schema / name)
    except LakewardError as error:
        raise DamagedTable(error.message) from None
    if metadata is None:
        return None
    action = metadata.action
    return TableFacts(
        table_type=table_type(metadata.properties),
        data_source_format="DELTA",
        columns=columns_of(action["schemaString"], action.get("partitionColumns") or []),
        properties=metadata.properties,
        comment=str(action.get("description") or ""),
        table_id=str(action.get("id") or ""),
        created_at=metadata.created,
        updated_at=metadata.updated,
        storage_location=f"file:{schema / name}",
    )


def remove_table(schema: Path, name: str) -> None:
    """Remove a table or view as DROP does: UNDROP takes tables back, except in the Hive metastore."""
    is_managed = _is_managed(schema, name)
    is_kept = is_managed and keep_dropped(schema, name)
    if any(read_json_object(file).get("type") == "EXTERNAL" for _, file in _described(schema, name)):
        keep_dropped(schema, name, external=True)
    for _, file in list(_described(schema, name)):
        file.unlink()
    if is_managed and not is_kept and (schema / name).is_dir():
        shutil.rmtree(schema / name)


def _is_managed(schema: Path, name: str) -> bool:
    """Return whether the folder of this name has the files of a table that owns them."""
    for _, file in _described(schema, name):
        found = read_json_object(file)
        return found.get("type") == "MANAGED" and local_folder(found.get("location") or "") == schema / name
    return _has_log(schema / name)


def columns_of(schema: Any, partitions: list[str]) -> list[dict[str, Any]]:
    """Return the columns of a schema in Spark's JSON form; raises ValueError and others for another form.

    >>> [column] = columns_of('{"fields": [{"name": "a", "type": "long", "nullable": true}]}', [])
    >>> column["type_text"], column["type_name"], column["nullable"]
    ('bigint', 'LONG', True)
    """
    fields = json.loads(schema or "{}").get("fields") or []
    found = []
    for position, each in enumerate(fields):
        kind = each.get("type")
        text = stored_type_text(kind)
        column: dict[str, Any] = {
            "name": each.get("name"),
            "type_text": text,
            "type_name": type_name(text),
            "type_json": json.dumps(each),
            "position": position,
            "nullable": bool(each.get("nullable", True)),
        }
        comment = (each.get("metadata") or {}).get("comment")
        if comment:
            column["comment"] = comment
        if text.startswith("decimal("):
            precision, scale = text.removeprefix("decimal(").rstrip(")").split(",")
            column.update(type_precision=int(precision), type_scale=int(scale))
        if each.get("name") in partitions:
            column["partition_index"] = partitions.index(each["name"])
        found.append(column)
    return found


def _from_object(kind: str, found: dict[str, Any], file: Path) -> TableFacts:
    changed = int(file.stat().st_mtime * 1000)
    properties = {str(key): str(value) for key, value in (found.get("properties") or {}).items()}
    is_view = kind == "view" or found.get("type") == "VIEW"
    external = "EXTERNAL" if found.get("type") == "EXTERNAL" else "MANAGED"
    return TableFacts(
        table_type="VIEW" if is_view else table_type(properties, external),
        data_source_format="" if is_view else str(found.get("provider") or "").upper(),
        columns=columns_of(found.get("schema"), list(found.get("partitionColumns") or [])),
        properties=properties,
        comment=str(found.get("comment") or properties.get("comment") or ""),
        created_at=int(found.get("createTime") or changed),
        updated_at=changed,
        view_definition=str(found.get("query") or found.get("viewText") or "") if is_view else "",
        storage_location=str(found.get("location") or ""),
    )


def _described(schema: Path, name: str) -> Iterator[tuple[str, Path]]:
    for kind in ("view", "table"):
        file = schema / OBJECTS / f"{name}.{kind}.json"
        if file.exists():
            yield kind, file


def _has_log(folder: Path) -> bool:
    return (folder / "_delta_log").is_dir()
