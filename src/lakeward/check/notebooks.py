"""Notebooks as the pieces of Python and SQL that `check` looks at, with the places of the pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from lakeward.check.values import Text
from lakeward.notebooks import PYTHON_MARK, SQL_MARK, LineMagic, Notebook, python_text

__all__ = ["PYTHON_MARK", "SQL_MARK", "Cell", "cells_of"]


@dataclass(frozen=True)
class Cell:
    """One piece: Python source, SQL, or a magic by name with the text behind it."""

    language: str
    text: Text
    number: int = 0


def cells_of(notebook: Notebook) -> Iterator[Cell]:
    """Yield the pieces of every cell but text: the magics on lines of Python first, then the code."""
    for cell in notebook.cells:
        if cell.language in ("md", "md-sandbox"):
            continue
        if cell.language != "python":
            place = Text(cell.source, cell.line, cell.indent + 1, True, cell.indent)
            yield Cell(cell.language, place, cell.number)
            continue
        magics: list[LineMagic] = []
        source = python_text(cell.source, partial(_kept, magics))
        for magic in magics:
            yield Cell(magic.name, Text(magic.text, cell.line + magic.line - 1, 1), cell.number)
        yield Cell("python", Text(source, cell.line, 1, True), cell.number)


def _kept(found: list[LineMagic], magic: LineMagic) -> str:
    found.append(magic)
    return "None"
