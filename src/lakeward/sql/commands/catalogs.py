"""USE, SHOW, CREATE, DROP and DESCRIBE of catalogs."""

from __future__ import annotations

import shutil
import uuid
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import ensure_catalog
from lakeward.sql.commands.place import Place, folder_name, matches, place, read_note, result, write_note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["create", "describe", "drop", "show", "use"]


def use(spark: SparkSession, *, catalog: str) -> dict[str, Any]:
    """Make a catalog the current one, in its schema `default`."""
    if catalog.lower() == "spark_catalog":
        name = "spark_catalog"
    else:
        name = place(spark).require_catalog(catalog)
        ensure_catalog(spark, name)
    spark._jsparkSession.sessionState().catalogManager().setCurrentCatalog(name)
    return {}


def show(spark: SparkSession, *, like: str | None) -> dict[str, Any]:
    """The names of the catalogs."""
    return result("catalog STRING", [[name] for name in place(spark).catalogs() if matches(like, name)])


def create(spark: SparkSession, *, catalog: str, if_not_exists: bool, comment: str | None) -> dict[str, Any]:
    """A new catalog with its schema `default`."""
    here, name = place(spark), folder_name(catalog)
    if name in here.catalogs() and (here.settings.warehouse / name).is_dir():
        if if_not_exists:
            return {}
        raise SqlError(
            "CATALOG_ALREADY_EXISTS",
            f"Cannot create catalog `{name}` because it already exists.",
            sql_state="42710",
            next_step="Choose a different name, drop the existing catalog, or add IF NOT EXISTS.",
        )
    ensure_catalog(spark, name)
    write_note(here.note("CATALOG", [name]), {"owner": here.settings.user, "comment": comment})
    return {}


def drop(spark: SparkSession, *, catalog: str, if_exists: bool, cascade: bool) -> dict[str, Any]:
    """Remove a catalog; one that holds anything only by CASCADE."""
    here, name = place(spark), catalog.lower()
    if if_exists and name not in here.catalogs():
        return {}
    here.require_catalog(name)
    if name == here.catalog:
        raise SqlError(
            "CANNOT_DROP_CURRENT_CATALOG",
            f"Catalog '{name}' is the session's current one.",
            next_step="USE another catalog first.",
        )
    if not cascade and not _is_empty(here, name):
        raise SqlError(
            "CATALOG_NOT_EMPTY",
            f"Cannot drop catalog `{name}`: it has the schemas {', '.join(here.schemas(name))}.",
            sql_state="2BP01",
            next_step="Use DROP CATALOG … CASCADE to drop it with all that is in it.",
        )
    for folder in (here.settings.warehouse / name, here.settings.volumes / name):
        if folder.is_dir():
            aside = folder.with_name(f".dropped-{uuid.uuid4()}")
            folder.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)
    return {}


def _is_empty(here: Place, catalog: str) -> bool:
    if here.schemas(catalog) not in ([], ["default"]):
        return False
    folder = here.settings.warehouse / catalog / "default"
    return not any(p.name != ".objects" for p in folder.glob("*")) and all(
        p.name == ".schema.json" or ".about" in p.suffixes for p in folder.glob(".objects/*")
    )


def describe(spark: SparkSession, *, catalog: str, extended: bool) -> dict[str, Any]:
    """Name, comment and owner of a catalog."""
    here = place(spark)
    name = here.require_catalog(catalog)
    about = read_note(here.note("CATALOG", [name]))
    rows = [
        ("Catalog Name", name),
        ("Comment", about.get("comment") or ""),
        ("Owner", about.get("owner") or here.settings.user),
    ]
    if extended:
        rows.append(("Catalog Type", "MANAGED_CATALOG"))
    return result("info_name STRING, info_value STRING", rows)
