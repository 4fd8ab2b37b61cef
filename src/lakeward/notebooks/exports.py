"""Notebooks kept as source files: cells between COMMAND lines, other languages behind MAGIC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from lakeward.notebooks.cells import Cell, Notebook, named_magic

__all__ = ["PYTHON_MARK", "SQL_MARK", "has_separators", "parse_export"]

PYTHON_MARK = b"# Databricks notebook source"
SQL_MARK = b"-- Databricks notebook source"

_SEPARATOR = re.compile(r"^(?:#|--) COMMAND -{5,}\s*$")
_MAGIC = re.compile(r"^(?:#|--) ?MAGIC(?: |$)")
_TITLE = re.compile(r"^(?:#|--) DBTITLE \d+,(.*)$")
_COMMENT = {"python": "#", "sql": "--"}

Line = tuple[int, str]


def has_separators(text: str) -> bool:
    """Whether a text is divided into cells, with or without a notebook's first line."""
    return any(_SEPARATOR.match(line) for line in text.splitlines())


def parse_export(text: str, language: str) -> Notebook:
    """The cells of a source file. Never fails: what is no mark of a notebook is code."""
    cells: list[Cell] = []
    number = 1
    block: list[Line] = []
    for line in (*enumerate(text.split("\n"), start=1), None):
        if line is not None and not _SEPARATOR.match(line[1]):
            block.append(line)
            continue
        found = list(_cells(block, language, number))
        cells += found
        number += bool(found)
        block = []
    return Notebook(language, "source", tuple(cells))


def _cells(block: list[Line], language: str, number: int) -> Iterator[Cell]:
    title = next((found[1].strip() for _, line in block if (found := _TITLE.match(line))), "")
    for marked, group in groupby(block, key=lambda line: bool(_MAGIC.match(line[1]))):
        lines = list(group)
        if marked:
            yield _magic(lines, language, number, title)
        elif any(_is_code(line, language) for _, line in lines):
            first = next(at for at, (_, line) in enumerate(lines) if line.strip())
            source = "\n".join(line for _, line in lines[first:]).rstrip()
            yield Cell(number, language, source, lines[first][0], title=title)


def _is_code(line: str, language: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(_COMMENT[language])


def _magic(lines: list[Line], language: str, number: int, title: str) -> Cell:
    mark = _MAGIC.match(lines[0][1])
    indent = mark.end() if mark else 0
    source = "\n".join(_MAGIC.sub("", line) for _, line in lines)
    name, body = named_magic(source) or (language, source)
    return Cell(number, name, body, lines[0][0], indent, title, is_magic=True)
