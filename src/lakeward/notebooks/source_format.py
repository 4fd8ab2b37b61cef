"""Databricks source exports (`# Databricks notebook source`): cells with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, groupby

from lakeward.notebooks.ipython_syntax import MARK, read_cell
from lakeward.notebooks.model import Cell, Notebook
from lakeward.notebooks.notebook_environment import CELL, dependencies_of_cell, dependencies_of_script

PYTHON_MARK = b"# Databricks notebook source"

SQL_MARK = b"-- Databricks notebook source"

_COMMENT = {"python": "#", "sql": "--"}

# By language: `-- COMMAND ----------` in a Python notebook is text, as in a template of a SQL notebook.
_SEPARATOR, _MAGIC, _TITLE = (
    {language: re.compile(rf"^{comment}{rest}") for language, comment in _COMMENT.items()}
    for rest in (r" COMMAND -{5,}\s*$", r" ?MAGIC(?: |$)", r" DBTITLE \d+,(.*)$")
)

Line = tuple[int, str]


def has_sql_separators(text: str) -> bool:
    """Return whether a SQL text has cell separators, with or without the first line of a notebook."""
    return any(_SEPARATOR["sql"].match(line) for line in text.splitlines())


def parse_export(text: str, language: str) -> Notebook:
    """Return the cells of a source file. Never fails: unmarked lines are code."""
    cells: list[Cell] = []
    number = 1
    block: list[Line] = []
    for line in (*enumerate(text.split("\n"), start=1), None):
        if line is not None and not _SEPARATOR[language].match(line[1]):
            block.append(line)
            continue
        found = list(_cells(block, language, number))
        cells += found
        number += bool(found)
        block = []
    declared = [dependencies_of_cell(cell.source) for cell in cells if cell.language == CELL]
    dependencies = (*dependencies_of_script(text), *chain.from_iterable(declared))
    return Notebook(language, "source", tuple(cells), dependencies)


def _cells(block: list[Line], language: str, number: int) -> Iterator[Cell]:
    title = next((found[1].strip() for _, line in block if (found := _TITLE[language].match(line))), "")
    for marked, lines in _parts(block, language):
        if marked:
            yield _magic(lines, language, number, title)
        elif any(_is_code(line, language) for _, line in lines):
            yield _strip_marks(lines, language, number, title)


def _parts(block: list[Line], language: str) -> Iterator[tuple[bool, list[Line]]]:
    """Yield the lines of a block as parts with and without MAGIC, and whether they have it.

    Lines with MAGIC continue those before them, over empty lines and comments, unless they name a magic.
    """
    parts: list[tuple[bool, list[Line]]] = []
    for marked, group in groupby(block, key=lambda line: bool(_MAGIC[language].match(line[1]))):
        lines = list(group)
        if marked and len(parts) > 1 and parts[-2][0]:
            between = parts[-1][1]
            named = _MAGIC[language].sub("", lines[0][1]).lstrip().startswith("%")
            if not named and not any(_is_code(line, language) for _, line in between):
                parts[-2][1].extend([*((at, "") for at, _ in between), *lines])
                parts.pop()
                continue
        parts.append((marked, lines))
    yield from parts


def _is_code(line: str, language: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(_COMMENT[language])


def _strip_marks(lines: list[Line], language: str, number: int, title: str) -> Cell:
    """Return a cell without MAGIC, which may begin with a magic all the same."""
    start = next(at for at, (_, line) in enumerate(lines) if line.strip() and not MARK.match(line))
    if lines[start][1].lstrip().startswith("%"):
        return _magic(lines[start:], language, number, title)
    first = next(at for at, (_, line) in enumerate(lines) if line.strip())
    source = "\n".join(line for _, line in lines[first:]).rstrip()
    return Cell(number, language, source, lines[first][0], title=title)


def _magic(lines: list[Line], language: str, number: int, title: str) -> Cell:
    mark = _MAGIC[language].match(lines[0][1])
    indent = mark.end() if mark else 0
    source = "\n".join(_MAGIC[language].sub("", line) for _, line in lines).rstrip()
    name, body, is_magic = read_cell(source, language)
    return Cell(number, name, body, lines[0][0], indent, title, is_magic)
