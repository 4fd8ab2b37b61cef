"""Metadata of catalogs, schemas and their objects that Spark's catalog has no place for.

Owners, tags, grants and policies are one JSON file per object, in the folder `.objects` of the catalog or
schema. SQL and the workspace API read and write the same files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write, read_regular
from lakeward.errors import ConfigurationError

OBJECTS = ".objects"
"""The folder of a catalog or schema that holds the files."""


def metadata_file(warehouse: Path, kind: str, name: Sequence[str]) -> Path:
    """Return the file with an object's metadata; the metastore has no name.

    >>> metadata_file(Path("/w"), "TABLE", ("main", "sales", "orders")).as_posix()
    '/w/main/sales/.objects/orders.table.about.json'
    >>> metadata_file(Path("/w"), "SCHEMA", ("main", "sales")).as_posix()
    '/w/main/sales/.objects/.schema.about.json'
    """
    folder, own = warehouse.joinpath(*name), ""
    if name and kind not in ("CATALOG", "SCHEMA"):
        folder, own = folder.parent, name[-1]
    return folder / OBJECTS / f"{own}.{kind.lower().replace(' ', '_')}.about.json"


def schema_definition(warehouse: Path, name: Sequence[str]) -> Path:
    """Return the file with comment and properties of a schema, which Spark's catalog writes, too."""
    return warehouse.joinpath(*name) / OBJECTS / ".schema.json"


def is_stored_data(entry: Path, warehouse: Path) -> bool:
    """Return whether users see an entry of a folder: not metadata, nor links to nowhere in the warehouse.

    Such a link to nowhere was that of a schema of `hive_metastore` whose folder was removed.
    """
    if not entry.is_relative_to(warehouse):
        return True
    return entry.name != OBJECTS and not (entry.is_symlink() and not entry.exists())


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the content of a metadata file; empty if it does not exist.

    Raises ConfigurationError (METADATA_DAMAGED) for a file that is no JSON object.
    """
    try:
        content = json.loads(read_regular(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _damaged(path, str(error)) from None
    if not isinstance(content, dict):
        raise _damaged(path, "it is no JSON object")
    return content


def _damaged(path: Path, reason: str) -> ConfigurationError:
    return ConfigurationError(
        "METADATA_DAMAGED", f"{path} is damaged: {reason}.", next_step="Restore the file, or delete it."
    )


def write_metadata(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a metadata file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, json.dumps(content, indent=2, sort_keys=True))
