"""Where a statement is: the session's catalog and schema, and the folders of its lakehouse."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import Settings, current_settings
from lakeward.whole_files import write_whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Place", "folder_name", "matches", "place", "read_note", "result", "write_note"]


@dataclass(frozen=True)
class Place:
    """A session's lakehouse and where in it the session stands."""

    settings: Settings
    catalog: str
    schema: str

    def full(self, name: Sequence[str], parts: int = 3) -> tuple[str, ...]:
        """`name` completed by the current catalog and schema; always in lower case, as names are kept.

        Raises SqlError for a name that no folder may have.
        """
        known = (self.catalog, self.schema)[: parts - 1]
        missing = parts - len(name)
        return tuple(folder_name(part) for part in (*known[:missing], *name))

    def catalogs(self) -> list[str]:
        """Names of the catalogs that exist."""
        found = {"main", self.settings.catalog}
        if self.settings.warehouse.is_dir():
            found |= {p.name for p in self.settings.warehouse.iterdir() if p.is_dir() and p.name[0] != "."}
        return sorted(found - {"spark_catalog"})

    def schemas(self, catalog: str) -> list[str]:
        """Names of the schemas of a catalog."""
        folder = self.settings.warehouse / catalog
        found = (
            {p.name for p in folder.iterdir() if p.is_dir() and p.name[0] != "."}
            if folder.is_dir()
            else set()
        )
        return sorted(found)

    def require_catalog(self, name: str) -> str:
        """The catalog's name as it is kept; raises SqlError when there is none."""
        if name.lower() not in self.catalogs():
            raise SqlError(
                "NO_SUCH_CATALOG_EXCEPTION",
                f"Catalog '{name}' was not found.",
                sql_state="42704",
                next_step=f"There are: {', '.join(self.catalogs())}.",
            )
        return name.lower()

    def require_schema(self, catalog: str, schema: str) -> None:
        """Raises SqlError when there is no such schema."""
        self.require_catalog(catalog)
        if schema not in self.schemas(catalog):
            raise SqlError(
                "SCHEMA_NOT_FOUND",
                f"The schema `{catalog}`.`{schema}` cannot be found.",
                parameters={"schemaName": f"`{catalog}`.`{schema}`"},
            )

    def note(self, kind: str, name: Sequence[str]) -> Path:
        """The file with what is known of an object beyond its own definition."""
        folder, own = self.settings.warehouse.joinpath(*name), ""
        if kind not in ("CATALOG", "SCHEMA"):
            folder, own = folder.parent, name[-1]
        return folder / ".objects" / f"{own}.{kind.lower()}.about.json"


def folder_name(name: str) -> str:
    """A name as its folder is called; raises SqlError when it would lead elsewhere or be hidden."""
    if not name or name[0] == "." or any(c in "/\\" or ord(c) < 32 for c in name):
        raise SqlError(
            "INVALID_NAME",
            f"`{name}` is no name for a catalog, schema or volume.",
            sql_state="42602",
            next_step="Leave out slashes, and dots at the beginning.",
        )
    return name.lower()


def place(spark: SparkSession) -> Place:
    """Where `spark` is. Raises SqlError when the session is none of ours."""
    settings = current_settings()
    if settings is None:
        raise SqlError("NO_LAKEHOUSE", "This session has no lakehouse: it was not made by lakeward.")
    manager = spark._jsparkSession.sessionState().catalogManager()
    catalog = manager.currentCatalog().name()
    return Place(settings, catalog, ".".join(manager.currentNamespace()) or "default")


def result(schema: str, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """A command's result: the columns as DDL, and the rows."""
    return {"schema": schema, "rows": [list(row) for row in rows]}


def matches(pattern: str | None, name: str) -> bool:
    """Whether a SHOW statement's pattern takes the name: `*` is anything, `|` parts alternatives.

    >>> matches("a*|b", "abc"), matches("a*|b", "bc"), matches(None, "x")
    (True, False, True)
    """
    if pattern is None:
        return True
    return any(_compiled(part.strip()).fullmatch(name) for part in pattern.split("|"))


@lru_cache(maxsize=64)
def _compiled(part: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, part.split("*"))), re.IGNORECASE)


def read_note(path: Path) -> dict[str, Any]:
    """What a note says; nothing when there is none."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return content


def write_note(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a note as a whole: readers see the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(content, indent=2, sort_keys=True))
