"""The folder `dbfs:/user/hive/warehouse`: what listings of it show of the schemas of `hive_metastore`.

It is the folder of the schema `default`. A link `<schema>.db` in it shows each other schema, as the platform
does (https://docs.databricks.com/aws/en/dbfs/root-locations). Spark's catalog makes and removes the link with
the schema (`session/jvm/WarehouseLayout.java`); paths do not need it, see `session/paths.py`.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_CATALOG = "hive_metastore"
_ENDING = ".db"


def link_hive_schemas(warehouse: Path) -> None:
    """Make the links of schemas that were made without Spark's catalog; remove links that lead nowhere."""
    catalog = warehouse / _CATALOG
    default = catalog / "default"
    with suppress(OSError):  # Another process makes the same links, or the warehouse cannot be written.
        for link in default.glob(f"*{_ENDING}"):
            if link.is_symlink() and not link.exists():
                link.unlink()
        for schema in catalog.glob("[!.]*"):
            if schema.is_dir() and schema != default and "." not in schema.name:
                _link(default, schema.name)


def _link(default: Path, schema: str) -> None:
    link = default / f"{schema}{_ENDING}"
    if link.is_symlink() or link.exists():
        return
    default.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        link.symlink_to(f"../{schema}", target_is_directory=True)
