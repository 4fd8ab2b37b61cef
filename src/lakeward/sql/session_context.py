"""The session that a command runs in: its catalog and schema, and the folders of its lakehouse.

Metadata that Spark has no place for (owners, tags, grants, keys, policies): see `object_metadata`.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.object_metadata import metadata_file, read_metadata, write_metadata
from lakeward.session import (
    BUILT_IN_CATALOGS,
    Settings,
    catalog_remedy,
    current_settings,
    is_information_schema,
)
from lakeward.spark_internals import catalog_manager, frame_from_java, java_session, jvm_view
from lakeward.volume_folders import names_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class SessionContext:
    """A session's lakehouse, and its current catalog and schema."""

    settings: Settings
    catalog: str
    schema: str

    def qualify(self, name: Sequence[str], parts: int = 3) -> tuple[str, ...]:
        """Complete `name` with the current catalog and schema; in lower case, as names are stored.

        Raises SqlError for a name that no folder can have.
        """
        current = (self.catalog, self.schema)[: parts - 1]
        missing = parts - len(name)
        return tuple(folder_name(part) for part in (*current[:missing], *name))

    def catalogs(self) -> list[str]:
        """Return the names of the existing catalogs."""
        names = {*BUILT_IN_CATALOGS, self.settings.catalog}
        names |= {*_folder_names(self.settings.warehouse)}
        return sorted(names - {"spark_catalog"})

    def schemas(self, catalog: str) -> list[str]:
        """Return the names of a catalog's schemas, those with volumes alone included."""
        with_tables = _folder_names(self.settings.warehouse / catalog)
        return sorted({*with_tables, *names_in(self.settings.volumes, catalog)})

    def volumes(self, catalog: str, schema: str) -> list[str]:
        """Return the names of a schema's volumes."""
        return sorted(names_in(self.settings.volumes, catalog, schema))

    def require_catalog(self, name: str) -> str:
        """Return the catalog's name as it is stored; raises SqlError if it does not exist."""
        if name.lower() not in self.catalogs():
            raise SqlError(
                "NO_SUCH_CATALOG_EXCEPTION",
                f"Catalog '{name}' was not found.",
                sql_state="42704",
                next_step=f"Existing catalogs: {', '.join(self.catalogs())}. {catalog_remedy(name)}",
            )
        return name.lower()

    def require_volume(self, catalog: str, schema: str, volume: str) -> None:
        """Raise SqlError if the volume does not exist."""
        if volume not in self.volumes(catalog, schema):
            raise SqlError(
                "VOLUME_NOT_FOUND",
                f"The volume `{catalog}`.`{schema}`.`{volume}` cannot be found.",
                sql_state="42704",
                next_step=f"SHOW VOLUMES IN {catalog}.{schema} lists the existing ones.",
            )

    def schema_exists(self, catalog: str, schema: str) -> bool:
        """Return whether the schema exists."""
        return catalog in self.catalogs() and schema in self.schemas(catalog)

    def require_schema(self, catalog: str, schema: str) -> None:
        """Raise SqlError if the schema does not exist."""
        self.require_catalog(catalog)
        if schema not in self.schemas(catalog) and not is_information_schema(catalog, schema):
            raise SqlError(
                "SCHEMA_NOT_FOUND",
                f"The schema `{catalog}`.`{schema}` cannot be found.",
                parameters={"schemaName": f"`{catalog}`.`{schema}`"},
            )

    def require_changeable_schema(
        self, catalog: str, schema: str, missing: str = "User is not an owner of"
    ) -> None:
        """Raise SqlError if the schema is missing, or the information schema; `missing` is the right."""
        self.require_schema(catalog, schema)
        if is_information_schema(catalog, schema):
            raise SqlError(
                "INSUFFICIENT_PERMISSIONS",
                f"Insufficient privileges: {missing} Schema '{catalog}.{schema}'. "
                "It is computed for each catalog and cannot be changed.",
                sql_state="42501",
            )

    def listed_schema(self, name: Sequence[str] | None) -> tuple[str, str]:
        """Return catalog and schema of a SHOW statement, by default the current ones; SqlError if missing."""
        catalog, schema = self.qualify(name, 2) if name else (self.catalog, self.schema)
        self.require_schema(catalog, schema)
        return catalog, schema

    def metadata_file(self, kind: str, name: Sequence[str]) -> Path:
        """Return the file with an object's metadata beyond its own definition; the metastore has no name."""
        return metadata_file(self.settings.warehouse, kind, name)

    def metadata(self, kind: str, name: Sequence[str]) -> dict[str, Any]:
        """Return an object's metadata beyond its own definition; empty if it has none."""
        return read_metadata(self.metadata_file(kind, name))

    def update_metadata(self, kind: str, name: Sequence[str], **values: object) -> None:
        """Set values in an object's metadata; the others stay."""
        write_metadata(self.metadata_file(kind, name), {**self.metadata(kind, name), **values})


def _folder_names(folder: Path) -> list[str]:
    """Return the names of the folders in `folder` that are not hidden; none if it does not exist."""
    if not folder.is_dir():
        return []
    return sorted(p.name for p in folder.iterdir() if p.is_dir() and p.name[0] != ".")


def metadata_levels(kind: str, full: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the kinds and names of an object's catalog, schema and itself, as far as it has them."""
    parents = [(each, tuple(full[: count + 1])) for count, each in enumerate(("CATALOG", "SCHEMA"))]
    return [*parents[: max(len(full) - 1, 0)], (kind, tuple(full))]


def current_context(spark: SparkSession) -> SessionContext:
    """Return the context of `spark`; raises SqlError for a session that lakeward did not create."""
    settings = current_settings()
    if settings is None:
        raise SqlError("NO_LAKEHOUSE", "This session has no lakehouse: lakeward did not create it.")
    manager = catalog_manager(spark)
    catalog = manager.currentCatalog().name()
    return SessionContext(settings, catalog, ".".join(manager.currentNamespace()) or "default")


def remove_folder(folder: Path) -> None:
    """Remove the folder of a dropped object, which others see at once; links in it are not followed."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        dropped = folder.with_name(f".dropped-{uuid.uuid4()}")
        folder.rename(dropped)
        shutil.rmtree(dropped, ignore_errors=True)


def run_with_delta(spark: SparkSession, text: str) -> DataFrame:
    """Run a statement with Spark's own parser and Delta, without any rewriting. Raises what they raise."""
    jvm: Any = jvm_view(spark)
    session: Any = java_session(spark)
    plan = session.sessionState().sqlParser().sparks().parsePlan(text)
    return frame_from_java(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, plan), spark)


def table_properties(spark: SparkSession, table: str) -> dict[str, str]:
    """Return all properties of a table by its name in SQL, also those that SHOW TBLPROPERTIES hides."""
    rows = run_with_delta(spark, f"SHOW TBLPROPERTIES {table}").collect()
    return {row["key"]: row["value"] for row in rows}


def folder_name(name: str) -> str:
    """Return the folder name of a catalog, schema or volume; SqlError for one that Unity Catalog refuses."""
    if not name or len(name) > 255 or any(c in "./\\\x7f" or ord(c) <= 32 for c in name):
        raise SqlError(
            "INVALID_NAME",
            f"`{name}` is not a valid name of a catalog, schema or volume.",
            sql_state="42602",
            next_step="Use at most 255 characters, without periods, spaces, slashes and control characters.",
        )
    return name.lower()


def matches_pattern(pattern: str | None, name: str) -> bool:
    """Return whether the pattern of a SHOW statement matches, in any capitals.

    `|` separates regular expressions, in which `*` is any text. As in Spark, one that is invalid matches
    nothing (rule: the `regex_pattern` of SHOW statements).

    >>> matches_pattern("a*|b", "abc"), matches_pattern("a*|b", "bc"), matches_pattern(None, "x")
    (True, False, True)
    >>> matches_pattern("[ab].", "B1"), matches_pattern("[|x", "x")
    (True, True)
    """
    if pattern is None:
        return True
    return any(re.fullmatch(each, name, re.IGNORECASE) for each in regular_expressions(pattern))


@lru_cache(maxsize=64)
def regular_expressions(pattern: str) -> tuple[str, ...]:
    """Return the regular expressions of a SHOW statement's pattern, without invalid ones.

    >>> regular_expressions(" a*|b.|[")
    ('a.*', 'b.')
    """
    found = []
    for part in pattern.strip().split("|"):
        expression = part.replace("*", ".*")
        with suppress(re.error):
            re.compile(expression)
            found.append(expression)
    return tuple(found)
