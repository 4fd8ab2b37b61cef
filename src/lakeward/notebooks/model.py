"""A notebook and the result of its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lakeward.notebooks.cell_errors import CellError
from lakeward.notebooks.recorder import CellRecord


@dataclass(frozen=True)
class Cell:
    """A cell, or the part of a cell in one language.

    `language` is `python`, `sql` …, or the name of a magic (`run`, `pip`, `md`). In `source` the magic's own
    name is blanked out and the marks of a source file are taken away: `line` is where it starts (in the file;
    in an `.ipynb` in the cell), `indent` how many characters stand before each of its lines in the file.
    """

    number: int
    language: str
    source: str
    line: int = 1
    indent: int = 0
    title: str = ""
    is_magic: bool = False


@dataclass(frozen=True)
class Notebook:
    """The cells in their order. `language` is that of cells without a magic.

    `dependencies` are the packages of the notebook's environment, as lines of a requirements file.
    `default_schema` is what a query of the SQL editor begins with: a catalog, or a catalog and a schema.
    """

    language: str
    form: Literal["source", "ipynb"]
    cells: tuple[Cell, ...]
    dependencies: tuple[str, ...] = ()
    default_schema: tuple[str, ...] = ()

    def file_of(self, cell: Cell, file: str) -> str:
        """Return the cell's file name in tracebacks: its file, in an `.ipynb` with its number."""
        return file if self.form == "source" else f"{file}#cell-{cell.number}"


@dataclass(frozen=True)
class NotebookRun:
    """A finished run: state, exit value, error and the record of all cells."""

    path: Path
    state: str
    exit_value: str | None
    error: CellError | None
    cells: tuple[CellRecord, ...]
    seconds: float
    children: tuple[NotebookRun, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        cell_documents = [
            {"cell": cell.number, "state": cell.state, "seconds": round(cell.seconds, 3)}
            for cell in self.cells
        ]
        return {
            "state": self.state,
            "notebook": str(self.path),
            "exit_value": self.exit_value,
            "datasets": [],
            "tasks": [],
            "cells": cell_documents,
            "files": dict(self.files),
            "seconds": round(self.seconds, 3),
            **({"error": str(self.error)} if self.error else {}),
        }
