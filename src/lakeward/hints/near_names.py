"""Suggestions for names that an error does not find: tables, volumes, imports, settings. No Spark."""

from __future__ import annotations

import glob
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.object_metadata import OBJECTS
from lakeward.suggestions import NOTEBOOK_NAMES, close_matches

if TYPE_CHECKING:
    from lakeward.session import Settings

_NAME_ERROR = re.compile(r"\bname '(?P<name>\w+)' is not defined")
_IMPORTS = {
    "F": "from pyspark.sql import functions as F",
    "T": "from pyspark.sql import types as T",
    "Window": "from pyspark.sql import Window",
    "DeltaTable": "from delta.tables import DeltaTable",
    "dp": "from pyspark import pipelines as dp",
    "dlt": "import dlt",
    "pd": "import pandas as pd",
    "np": "import numpy as np",
}
_FUNCTIONS = frozenset(
    (
        "col",
        "lit",
        "when",
        "expr",
        "udf",
        "current_timestamp",
        "to_date",
        "to_timestamp",
        "from_json",
        "explode",
    )
)
_TYPES = re.compile(
    r"(?:Struct|Array|Map|String|Integer|Long|Double|Boolean|Date|Timestamp|Decimal)Type|StructField"
)
_CONF = re.compile(r'\[SQL_CONF_NOT_FOUND\].*?The SQL config "(?P<key>[^"]+)" cannot be found')
_VOLUME = re.compile(r"(?<![\w.-])(?:dbfs:|file:|/dbfs)?/Volumes/(?P<name>[\w-]+/[\w-]+/[\w-]+)")


def table_hint(text: str, settings: Settings) -> str | None:
    """Return what to do about the table that the error `text` does not find; None for other errors."""
    from lakeward.seeds import missing_table, seed_hint

    name = missing_table(text)
    if name is None or len(name) > 3 or "Did you mean" in text:
        return None
    full = complete_name(name, text, settings)
    near = near_tables(full, settings)
    if near and near[0].rpartition(".")[2] != name[-1].lower():
        return near_tables_hint(near, name)
    parts = [near_tables_hint(near, name)] if near else []
    if "lakeward seed" not in text:
        parts.append(seed_hint(".".join(full)))
    return " ".join(parts) or None


def complete_name(name: list[str], text: str, settings: Settings) -> list[str]:
    """Return catalog, schema and table of a name of at most three parts, as the error `text` searched it."""
    from lakeward.seeds import current_schema_of

    catalog, schema = current_schema_of(text) or (settings.catalog, settings.schema)
    return [*[catalog, schema][: 3 - len(name)], *name]


def near_tables_hint(near: list[str], name: list[str]) -> str:
    """Return the sentence that suggests tables.

    >>> near_tables_hint(["c.s.orders"], ["ordrs"]), near_tables_hint(["c.s.orders"], ["b", "s", "orders"])
    ('Did you mean `c.s.orders`?', 'A table of this name is in another schema: `c.s.orders`.')
    """
    listed = [f"`{each}`" for each in near]
    if near[0].rpartition(".")[2] == name[-1].lower():
        return f"A table of this name is in another schema: {', '.join(listed)}."
    return f"Did you mean {' or '.join(listed)}?"


def near_tables(name: list[str], settings: Settings) -> list[str]:
    """Return the full names of similar tables and views of its schema, else those of its name in others.

    `name` has three parts.
    """
    catalog, schema, table = name
    there = _tables(settings.warehouse / catalog.lower() / schema.lower(), "*")
    found = [f"{catalog}.{schema}.{each}" for each in close_matches(table, there)]
    if not found and settings.warehouse.is_dir():
        pattern = glob.escape(table.lower())
        found = [
            ".".join((*schema.parts[-2:], each))
            for schema in sorted(settings.warehouse.glob("*/*"))
            for each in _tables(schema, pattern)
        ]
    return found[:3]


def _tables(schema: Path, pattern: str) -> list[str]:
    """Return the names of tables and views in the folder of a schema; Delta tables need no definition."""
    delta = {each.parent.name for each in schema.glob(f"{pattern}/_delta_log")}
    others = {
        each.name.removesuffix(end)
        for end in (".table.json", ".view.json")
        for each in (schema / OBJECTS).glob(f"{pattern}{end}")
    }
    return sorted(each for each in delta | others if not each.startswith("."))


def missing_volumes(text: str) -> list[str]:
    """Return the volumes, as `catalog/schema/volume`, whose files the error `text` does not find."""
    from lakeward.session import misses_file

    return [found["name"] for found in _VOLUME.finditer(text)] if misses_file(text) else []


def volume_hint(text: str, settings: Settings) -> str | None:
    """Return the volumes that are close to the one that the error `text` does not find; None without one."""
    missing = missing_volumes(text)
    if not missing:
        return None
    catalog, schema, name = missing[0].split("/")
    folder = settings.volumes / catalog.lower() / schema.lower()
    known = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    if name.lower() in known:
        return None
    close = [f"/Volumes/{catalog}/{schema}/{each}" for each in close_matches(name, known)]
    return f"Did you mean {' or '.join(close)}?" if close else None


def import_hint(text: str) -> str | None:
    """Return the import that a name is usual for; None for other errors.

    >>> import_hint("NameError: name 'F' is not defined")
    'Import it: `from pyspark.sql import functions as F`.'
    >>> import_hint("NameError: name 'col' is not defined")
    'Import it: `from pyspark.sql.functions import col`.'
    >>> import_hint("NameError: name 'spark' is not defined")
    'Modules have no `spark` of their own. Import it: `from databricks.sdk.runtime import spark`.'
    >>> import_hint("NameError: name 'time' is not defined")
    'Import it: `import time`.'
    >>> import_hint("NameError: name 'rows' is not defined")
    """
    found = _NAME_ERROR.search(text)
    if found is None:
        return None
    name = found["name"]
    if name in NOTEBOOK_NAMES:
        runtime = f"from databricks.sdk.runtime import {name}"
        return f"Modules have no `{name}` of their own. Import it: `{runtime}`."
    line = _IMPORTS.get(name)
    if name in _FUNCTIONS:
        line = f"from pyspark.sql.functions import {name}"
    elif _TYPES.fullmatch(name):
        line = f"from pyspark.sql.types import {name}"
    elif name in sys.stdlib_module_names:
        line = f"import {name}"
    return None if line is None else f"Import it: `{line}`."


def setting_hint(text: str) -> str | None:
    """Return how to set the setting that code reads and that has no value; None for other errors.

    >>> setting_hint('[SQL_CONF_NOT_FOUND] The SQL config "a.b" cannot be found. Please verify …')
    'Set `a.b` under `configuration` of the pipeline, or with `--conf a.b=VALUE` of `lakeward pipeline`.'
    """
    found = _CONF.search(text)
    if found is None or found["key"].startswith("spark."):
        return None
    key = found["key"]
    option = f"`--conf {key}=VALUE` of `lakeward pipeline`"
    return f"Set `{key}` under `configuration` of the pipeline, or with {option}."
