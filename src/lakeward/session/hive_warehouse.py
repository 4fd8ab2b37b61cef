"""The folder `dbfs:/user/hive/warehouse`: what listings of it show of the schemas of `hive_metastore`.

It is the folder of the schema `default`. A link `<schema>.db` in it shows each other schema without a
LOCATION, as the platform does (https://docs.databricks.com/aws/en/dbfs/root-locations). Spark's catalog makes
and removes the link with the schema (`session/jvm/WarehouseLayout.java`); paths do not need it, see
`session/paths.py`.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from lakeward.atomic_files import read_json_object
from lakeward.object_metadata import schema_definition

_CATALOG = "hive_metastore"
_ENDING = ".db"


def link_hive_schemas(warehouse: Path) -> None:
    """Make the links of schemas that were made without Spark's catalog; remove those that no schema has."""
    catalog = warehouse / _CATALOG
    default = catalog / "default"
    with suppress(OSError):  # Another process makes the same links, or the warehouse cannot be written.
        linked = {
            f"{schema.name}{_ENDING}": schema
            for schema in catalog.glob("[!.]*")
            if schema.is_dir() and schema != default and "." not in schema.name and not _has_location(schema)
        }
        for link in default.glob(f"*{_ENDING}"):
            is_own = link.is_symlink() and link.readlink() == Path("..", link.stem)
            if is_own and link.name not in linked:
                link.unlink()
        for name, schema in linked.items():
            _link(default / name, schema)


def _has_location(schema: Path) -> bool:
    return "location" in read_json_object(schema_definition(schema.parent, [schema.name]))


def _link(link: Path, schema: Path) -> None:
    if link.is_symlink() or link.exists():
        return
    link.parent.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        link.symlink_to(f"../{schema.name}", target_is_directory=True)
