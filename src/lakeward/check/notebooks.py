"""Notebooks as the pieces of Python and SQL that `check` looks at, with the places of the pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lakeward.check.code.values import Text
from lakeward.notebooks import PYTHON_MARK, SQL_MARK, line_magics, parse_export, parse_ipynb

__all__ = ["PYTHON_MARK", "SQL_MARK", "Cell", "cells_of", "magics_of"]


@dataclass(frozen=True)
class Cell:
    """One piece: Python source, SQL, or a magic by name with the text behind it."""

    language: str
    text: Text
    number: int = 0


def magics_of(source: str, language: str = "python") -> Iterator[Cell]:
    """The magic cells of a notebook that is kept as a source file (`# MAGIC %sql`)."""
    for cell in parse_export(source, language).cells:
        if cell.is_magic:
            yield Cell(cell.language, Text(cell.source, cell.line, cell.indent + 1, True, cell.indent))


def cells_of(content: bytes) -> Iterator[Cell]:
    """The code cells of an `.ipynb`. Raises ValueError for what is none."""
    for cell in parse_ipynb(content).cells:
        if cell.language == "md":
            continue
        source = cell.source
        if cell.language == "python":
            lines = source.split("\n")
            for magic in line_magics(source):
                if magic.name != "python":
                    place = Text(lines[magic.line - 1], magic.line, 1)
                    yield Cell(magic.name, place, cell.number)
                lines[magic.line - 1] = ""
            source = "\n".join(lines)
        yield Cell(cell.language, Text(source, 1, 1, True), cell.number)
