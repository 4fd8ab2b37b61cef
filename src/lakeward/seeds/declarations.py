"""`[tool.lakeward.seeds]`: the file of each declared table. No Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakeward.errors import SeedError
from lakeward.seeds.names import TableName
from lakeward.session import Settings, project_file, project_table


@dataclass(frozen=True)
class DeclaredSeed:
    """One seed of the project: the table, the file or folder of its rows, and optionally a schema file."""

    name: TableName
    source: Path
    ddl: Path | None = None


def declared_seeds(settings: Settings) -> dict[TableName, DeclaredSeed]:
    """Return the seeds that the project of `settings` declares, by table.

    An entry is `"c.s.t" = "FILE"` or `"c.s.t" = { from = "FILE", ddl = "FILE" }`; paths are relative to the
    folder of pyproject.toml. Raises SeedError for anything else.
    """
    file = project_file(settings.root)
    if file is None:
        return {}
    table = project_table(settings.root).get("seeds") or {}
    if not isinstance(table, dict):
        raise _wrong(file, "`seeds` is not a table")
    found = {}
    for key, value in _flat("", table):
        name = TableName.of(key, catalog=settings.catalog, schema=settings.schema)
        entry = {"from": value} if isinstance(value, str) else value
        if not (isinstance(entry, dict) and {"from"} <= entry.keys() <= {"from", "ddl"}):
            raise _wrong(file, f"the seed `{key}` names no file")
        ddl = entry.get("ddl")
        source = file.parent / str(entry["from"])
        found[name] = DeclaredSeed(name, source, file.parent / str(ddl) if ddl else None)
    return found


def _flat(above: str, table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the entries; TOML parses the parts of unquoted names as nested tables."""
    for key, value in table.items():
        name = f"{above}.{key}" if above else key
        if isinstance(value, dict) and "from" not in value and "ddl" not in value:
            yield from _flat(name, value)
        else:
            yield name, value


def _wrong(file: Path, what: str) -> SeedError:
    return SeedError(
        "SEED_DECLARATION_INVALID",
        f"In [tool.lakeward.seeds] of {file}, {what}.",
        next_step='Write "catalog.schema.table" = "FILE", or = { from = "FILE", ddl = "FILE" }.',
    )
