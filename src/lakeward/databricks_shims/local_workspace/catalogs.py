"""Unity Catalog: catalogs, schemas and tables, which are folders of the warehouse, as they are read.

`main`, `workspace` and their schemas `default` exist before anything was written to them. Names are lower
case.
Source: https://docs.databricks.com/api/workspace/schemas and its siblings
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter, missing
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest
from lakeward.databricks_shims.local_workspace.contained_paths import check_name, is_name
from lakeward.databricks_shims.local_workspace.pages import paginate
from lakeward.databricks_shims.local_workspace.table_files import (
    DamagedTable,
    TableFacts,
    columns_of,
    is_table,
    read_table,
    table_names,
)
from lakeward.dataset_properties import KIND_PROPERTY, shown_properties
from lakeward.session import (
    DEFAULT_CATALOGS,
    INFORMATION_SCHEMA,
    INFORMATION_SCHEMA_ABOUT,
    INFORMATION_SCHEMA_NAME,
    is_information_schema,
)
from lakeward.volume_folders import volume_folder

# Types of a Delta log.
_SCHEMA_TYPES = {"STRING": "string", "INT": "integer", "BIGINT": "long", "TIMESTAMP": "timestamp"}


def list_catalogs(call: ApiRequest) -> dict[str, Any]:
    """Return all catalogs."""
    names = catalog_names(call)
    return paginate(call, [catalog_document(call, name) for name in names], "catalogs", default=100)


def get_catalog(call: ApiRequest) -> dict[str, Any]:
    """Return one catalog."""
    return catalog_document(call, existing_parts(call, 1)[0])


def list_schemas(call: ApiRequest) -> dict[str, Any]:
    """Return the schemas of a catalog."""
    catalog = checked_name(call.required("catalog_name"))
    require_catalog(call, catalog)
    found = [schema_document(call, catalog, name) for name in _listed_schemas(call, catalog)]
    return paginate(call, found, "schemas", default=100)


def get_schema(call: ApiRequest) -> dict[str, Any]:
    """Return one schema."""
    return schema_document(call, *existing_parts(call, 2))


def list_tables(call: ApiRequest) -> dict[str, Any]:
    """List the tables and views of a schema, with their columns unless `omit_columns`."""
    catalog, schema = checked_name(call.required("catalog_name")), checked_name(call.required("schema_name"))
    require_schema(call, catalog, schema)
    pattern = call.query.get("table_name_pattern")
    found = [
        _table(call, catalog, schema, name, facts)
        for name, facts in _listed_tables(call, catalog, schema, pattern or "%")
    ]
    if call.flag("omit_columns"):
        for each in found:
            del each["columns"]
    return paginate(call, found, "tables", default=50)


def list_table_summaries(call: ApiRequest) -> dict[str, Any]:
    """List names and types of the tables of a catalog, on request of names that match a pattern."""
    catalog = checked_name(call.required("catalog_name"))
    require_catalog(call, catalog)
    schemas, tables = (call.query.get(f"{kind}_name_pattern") or "%" for kind in ("schema", "table"))
    found = [
        {"full_name": f"{catalog}.{schema}.{name}", "table_type": facts.table_type}
        for schema in _listed_schemas(call, catalog)
        if is_like(schema, schemas)
        for name, facts in _listed_tables(call, catalog, schema, tables)
    ]
    return paginate(call, found, "tables", default=100)


def _listed_schemas(call: ApiRequest, catalog: str) -> list[str]:
    """Return the names of all schemas of a catalog, the information schema among them."""
    names = set(schema_names(call, catalog))
    if is_information_schema(catalog, INFORMATION_SCHEMA_NAME):
        names.add(INFORMATION_SCHEMA_NAME)
    return sorted(names)


def _listed_tables(
    call: ApiRequest, catalog: str, schema: str, pattern: str
) -> Iterator[tuple[str, TableFacts]]:
    """Yield the names that match a pattern, with the facts on each table or view of a schema."""
    folder = warehouse_of(call) / catalog / schema
    is_computed = is_information_schema(catalog, schema)
    for name in sorted(INFORMATION_SCHEMA) if is_computed else table_names(folder):
        if is_like(name, pattern):
            yield name, _information_facts(name) if is_computed else _facts(folder, name)


def get_table(call: ApiRequest) -> dict[str, Any]:
    """Return one table or view."""
    catalog, schema, name = parts = name_parts(call, 3)
    if _is_computed(catalog, schema, name):
        return _table(call, catalog, schema, name, _information_facts(name))
    try:
        facts = read_table(require_table(call, parts), name)
    except DamagedTable as damaged:
        raise ApiError(
            400,
            "INVALID_STATE",
            f"Table '{catalog}.{schema}.{name}' cannot be read: {damaged}. Restore the file.",
        ) from None
    return _table(call, catalog, schema, name, facts)


def table_exists(call: ApiRequest) -> dict[str, Any]:
    """Return whether there is such a table or view."""
    catalog, schema, name = name_parts(call, 3)
    found = _is_computed(catalog, schema, name) or is_table(warehouse_of(call) / catalog / schema, name)
    return {"table_exists": found}


def warehouse_of(call: ApiRequest) -> Path:
    """Return the folder of catalogs, schemas and tables."""
    return call.environment.settings().warehouse


def checked_name(name: str) -> str:
    """Return a name in lower case. Raises ApiError for one that no object can have."""
    check_name(name)
    return name.lower()


def folder_names(folder: Path) -> list[str]:
    """Return the names of catalogs or schemas in a folder."""
    if not folder.is_dir():
        return []
    return sorted(each.name for each in folder.iterdir() if each.is_dir() and is_name(each.name))


def catalog_names(call: ApiRequest) -> list[str]:
    """Return the names of all catalogs."""
    return sorted({*DEFAULT_CATALOGS, *_names_below(call)})


def schema_names(call: ApiRequest, catalog: str) -> list[str]:
    """Return the names of the schemas of a catalog."""
    built_in = {"default"} if catalog in DEFAULT_CATALOGS else set()
    return sorted(built_in | _names_below(call, catalog))


def _names_below(call: ApiRequest, *parts: str) -> set[str]:
    """Return the names of catalogs or schemas with tables, or with volumes alone."""
    with_volumes = volume_folder(call.environment.settings().volumes, *parts)
    folders = (warehouse_of(call).joinpath(*parts), with_volumes)
    return {name.lower() for folder in folders for name in folder_names(folder)}


def exists(call: ApiRequest, parts: list[str]) -> bool:
    """Return whether there is such a catalog or schema."""
    is_built_in = parts[0] in DEFAULT_CATALOGS and parts[1:] in ([], ["default"])
    if len(parts) == 2 and is_information_schema(*parts):
        return exists(call, parts[:1])
    with_volumes = volume_folder(call.environment.settings().volumes, *parts)
    return is_built_in or warehouse_of(call).joinpath(*parts).is_dir() or with_volumes.is_dir()


def require_catalog(call: ApiRequest, catalog: str) -> None:
    """Raise ApiError for a catalog that does not exist."""
    if not exists(call, [catalog]):
        raise missing(f"Catalog '{catalog}'", "CATALOG_DOES_NOT_EXIST")


def require_schema(call: ApiRequest, catalog: str, schema: str) -> None:
    """Raise ApiError for a schema that does not exist."""
    require_catalog(call, catalog)
    if not exists(call, [catalog, schema]):
        raise missing(f"Schema '{catalog}.{schema}'", "SCHEMA_DOES_NOT_EXIST")


def require_table(call: ApiRequest, parts: list[str]) -> Path:
    """Return the folder of the schema of a table or view. Raises ApiError for one that does not exist."""
    catalog, schema, name = parts
    folder = warehouse_of(call) / catalog / schema
    if not is_table(folder, name):
        raise missing(f"Table '{'.'.join(parts)}'", "TABLE_DOES_NOT_EXIST")
    return folder


def catalog_document(call: ApiRequest, name: str) -> dict[str, Any]:
    return {**_about(call, name), "name": name, "full_name": name, "catalog_type": "MANAGED_CATALOG"}


def schema_document(call: ApiRequest, catalog: str, name: str) -> dict[str, Any]:
    full = f"{catalog}.{name}"
    about = _about(call, full)
    if is_information_schema(catalog, name):
        about |= {key: INFORMATION_SCHEMA_ABOUT[key] for key in ("owner", "comment")}
    return {**about, "catalog_name": catalog, "name": name, "full_name": full}


def _table(call: ApiRequest, catalog: str, schema: str, name: str, facts: TableFacts) -> dict[str, Any]:
    full = f"{catalog}.{schema}.{name}"
    about = {
        "owner": INFORMATION_SCHEMA_ABOUT["owner"] if is_information_schema(catalog, schema) else call.owner,
        "catalog_name": catalog,
        "schema_name": schema,
        "name": name,
        "full_name": full,
        "table_id": facts.table_id or object_uuid(full),
        "table_type": facts.table_type,
        "data_source_format": facts.data_source_format,
        "columns": facts.columns,
        "properties": shown_properties(facts.properties),
        "created_at": facts.created_at,
        "created_by": call.owner,
        "updated_at": facts.updated_at,
        "updated_by": call.owner,
        "comment": facts.comment,
        "view_definition": facts.view_definition or _standalone_query(call, facts),
        "storage_location": facts.storage_location,
        **call.description(full),
    }
    return {key: value for key, value in about.items() if value != ""}


def _standalone_query(call: ApiRequest, facts: TableFacts) -> str:
    """Return the query of a materialized view or streaming table that a SQL statement defines."""
    if KIND_PROPERTY not in facts.properties:
        return ""
    from lakeward.sql import PIPELINE, find_standalone_table

    standalone = find_standalone_table(call.environment.settings(), facts.properties.get(PIPELINE))
    return standalone.query if standalone is not None else ""


def _facts(folder: Path, name: str) -> TableFacts:
    """Return the facts on a listed table; the comment of an unreadable one names the damaged file."""
    try:
        return read_table(folder, name)
    except DamagedTable as damaged:
        return TableFacts("MANAGED", "", comment=f"Cannot be read: {damaged}.")


def _is_computed(catalog: str, schema: str, name: str) -> bool:
    """Return whether this is a relation of an information schema, which has no files."""
    return is_information_schema(catalog, schema) and name in INFORMATION_SCHEMA


def _information_facts(relation: str) -> TableFacts:
    """Return the facts on a relation of an information schema."""
    columns = (column.split() for column in INFORMATION_SCHEMA[relation].split(", "))
    fields = [{"name": name, "type": _SCHEMA_TYPES[kind]} for name, kind in columns]
    return TableFacts("VIEW", "", columns=columns_of(json.dumps({"fields": fields}), []))


def require_changeable_schema(call: ApiRequest, catalog: str, schema: str) -> None:
    """Raise ApiError for a schema that does not exist, and for the information schema."""
    require_schema(call, catalog, schema)
    if is_information_schema(catalog, schema):
        raise ApiError(
            403,
            "PERMISSION_DENIED",
            f"Schema '{catalog}.{schema}' belongs to the system user. It is computed for each catalog and "
            "cannot be changed.",
        )


def object_uuid(full_name: str) -> str:
    """Return a stable UUID of an object without one of its own."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, full_name))


def _about(call: ApiRequest, full_name: str) -> dict[str, Any]:
    return {"owner": call.owner, **call.description(full_name)}


def name_parts(call: ApiRequest, count: int) -> list[str]:
    parts = call.path_parameter.strip("/").split(".")
    if len(parts) != count:
        raise invalid_parameter(f"'{call.path_parameter.strip('/')}' has not {count} parts.")
    return [checked_name(part) for part in parts]


def existing_parts(call: ApiRequest, count: int) -> list[str]:
    parts = name_parts(call, count)
    if not exists(call, parts):
        raise missing(f"{'Catalog' if count == 1 else 'Schema'} '{'.'.join(parts)}'")
    return parts


_GLOB = str.maketrans({"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"})


def is_like(text: str, pattern: str) -> bool:
    """Return whether `text` matches an SQL LIKE pattern, in any case of letters.

    >>> is_like("Orders_2026", "orders%6"), is_like("orders", "o_d%x%")
    (True, False)
    """
    return fnmatchcase(text.lower(), pattern.lower().translate(_GLOB))
