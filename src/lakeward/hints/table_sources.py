"""Which files of the repository create the tables that an error does not find. No Spark."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeward.hints.near_names import complete_name
from lakeward.seeds import missing_tables

if TYPE_CHECKING:
    from lakeward.check import TableSource
    from lakeward.session import Settings

_NO_DATASET = re.compile(r"`(?P<name>[^`\s]+)` is neither a dataset of this pipeline nor a table")
_MOST_FILES = 3
# In the order in which they are named.
_KINDS = ("sql", "notebook", "python", "dbt", "dataset")


def searched_tables(text: str) -> Iterator[list[str]]:
    """Yield the parts of the names of tables that errors of pipelines and others do not find."""
    for found in _NO_DATASET.finditer(text):
        yield found["name"].split(".")
    yield from missing_tables(text)


def table_sources_hint(text: str, settings: Settings) -> str | None:
    """Return which files create the tables that the error `text` does not find, and how to run them."""
    full = [tuple(complete_name(name, text, settings)) for name in searched_tables(text) if len(name) <= 3]
    if not full:
        return None
    from lakeward.check import table_sources

    is_of_pipeline = _NO_DATASET.search(text) is not None
    sources = [
        source
        for source in table_sources(settings.root, tuple(dict.fromkeys(full)))
        # A dataset of a pipeline is often called as the table that it reads; and a file that failed was run.
        if not (source.kind == "dataset" and is_of_pipeline) and source.name not in text
    ]
    sources.sort(key=lambda source: (-len(source.tables), _KINDS.index(source.kind)))
    shown: list[TableSource] = []
    for source in sources:
        if not any(set(source.tables) < set(each.tables) for each in shown):
            shown.append(source)
    return " ".join(_sentence(source, settings) for source in shown[:_MOST_FILES]) or None


def _sentence(source: TableSource, settings: Settings) -> str:
    cell = f"#{source.cell}" if source.cell else ""
    place = f"{os.path.relpath(source.path)}{cell}:{source.line}"
    names = ", ".join(f"`{table[-1]}`" for table in source.tables)
    if source.kind == "dbt":
        return f"{place} is the dbt model {names}; run its project first: `{_dbt_command(source, settings)}`."
    if source.kind == "dataset":
        return f"{place} declares {names}: run its pipeline, or the file in a job, first."
    command = _command(source, source.tables[0], settings)
    first = f"run it first: `{command}`." if command else "run it first."
    return f"{place} creates {names}; {first}"


def _dbt_command(source: TableSource, settings: Settings) -> str:
    from lakeward.check import build_command
    from lakeward.dbt import project_folder

    project = project_folder(source.path.parent)
    assert project is not None, "models are files of a project"
    return build_command(os.path.relpath(project), _target_option(settings))


def _target_option(settings: Settings) -> str:
    return "" if settings.target == "local" else f" -t {settings.target}"


def _command(source: TableSource, table: tuple[str, ...], settings: Settings) -> str | None:
    """Return the command that runs the file, in the schema of `table` where the file names none."""
    file = shlex.quote(os.path.relpath(source.path))
    options = _target_option(settings)
    if source.needs_schema:
        options += f" --catalog {shlex.quote(table[0])} --schema {shlex.quote(table[1])}"
    if source.kind == "sql":
        return f"lakeward sql{options} -f {file}"
    return f"lakeward notebook {file}{options}" if source.kind == "notebook" else None
