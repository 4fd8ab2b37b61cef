"""Where a repository creates tables, searched by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lakeward.check.files import SourceFile, files_below
from lakeward.check.source_reader import Unreadable, content_of, is_notebook, uses_in
from lakeward.check.tables import HOLE, names_match, parts_of
from lakeward.check.verdicts.paths import is_test
from lakeward.dbt import project_folder

Kind = Literal["notebook", "sql", "python", "dbt", "dataset"]
# An error waits for the search.
_MOST_ENTRIES = 20_000
_KINDS = ("python", "notebook", "sql")


@dataclass(frozen=True)
class TableSource:
    """A file that creates tables.

    Attributes:
        path: The file.
        name: Its path below the folder that was searched, with slashes.
        cell: The cell of the first creation, from 1; 0 in other files than notebooks of cells.
        line: Its line, from 1; in the cell if there is one.
        kind: How the file is run. `dataset` is a source of a pipeline, or a standalone one; `dbt`
            a model or snapshot.
        tables: The names that were searched and that it creates.
        needs_schema: Whether it creates one of them by a name without catalog or schema, and enters none.
    """

    path: Path
    name: str
    cell: int
    line: int
    kind: Kind
    tables: tuple[tuple[str, ...], ...]
    needs_schema: bool


def table_sources(root: Path, tables: Collection[tuple[str, ...]]) -> Iterator[TableSource]:
    """Yield the files below `root`, tests left out, that create one of `tables` (catalog, schema, table).

    Of a folder with very many files, such as a home folder, only the first are searched.
    """
    searched = {table: table[-1].lower().encode() for table in tables}
    for file in files_below(root, most_entries=_MOST_ENTRIES):
        if file.kind not in _KINDS or is_test(file.name):
            continue
        try:
            content = content_of(file)
        except Unreadable:
            continue
        lower = content.lower()
        candidates = [table for table, last in searched.items() if last in lower]
        found = _dbt_model(file, tables) or (_source(file, content, candidates) if candidates else None)
        if found is not None:
            yield found


def _dbt_model(file: SourceFile, tables: Collection[tuple[str, ...]]) -> TableSource | None:
    """Return the source of the one table that is called as the file, if it is a model or a snapshot."""
    named = tuple(table for table in tables if table[-1].lower() == file.path.stem.lower())
    *folders, _ = file.name.split("/")
    if not named or file.kind == "notebook" or not {"models", "snapshots"}.intersection(folders):
        return None
    project = project_folder(file.path.parent)
    if project is None or not project.is_relative_to(file.path.parents[len(folders)]):
        return None
    return TableSource(file.path, file.name, 0, 1, "dbt", named, needs_schema=False)


def _source(file: SourceFile, content: bytes, candidates: list[tuple[str, ...]]) -> TableSource | None:
    uses, _ = uses_in(file)
    lasting = [use for use in uses if use.kind == "creates" and use.detail != "temporary"]
    created = [(use, parts_of(use.name)) for use in lasting]
    matches = [
        (use, parts, table)
        for table in candidates
        for use, parts in created
        if parts and HOLE not in parts[-1] and names_match(parts, tuple(map(str.lower, table)))
    ]
    if not matches:
        return None
    first = min(use.place for use, _, _ in matches)
    enters = any(use.kind == "uses_schema" for use in uses)
    is_dataset = all(use.detail == "dataset" for use, _, _ in matches)
    return TableSource(
        path=file.path,
        name=file.name,
        cell=first.cell,
        line=first.line,
        kind="dataset" if is_dataset else _kind(file, content),
        tables=tuple(dict.fromkeys(table for _, _, table in matches)),
        needs_schema=not enters and any(len(parts) < len(table) for _, parts, table in matches),
    )


def _kind(file: SourceFile, content: bytes) -> Kind:
    if is_notebook(file, content):
        return "notebook"
    return "sql" if file.kind == "sql" else "python"
