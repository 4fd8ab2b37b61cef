"""What a run of a notebook gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeward.notebooks.failing import CellError
from lakeward.notebooks.recording import CellRecord

__all__ = ["NotebookRun"]


@dataclass(frozen=True)
class NotebookRun:
    """A finished run: its state, its exit value, what failed, and the record of all cells."""

    path: Path
    state: str
    exit_value: str | None
    error: CellError | None
    cells: tuple[CellRecord, ...]
    seconds: float
    children: tuple[NotebookRun, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        told_cells = [
            {"cell": cell.number, "state": cell.state, "seconds": round(cell.seconds, 3)}
            for cell in self.cells
        ]
        return {
            "state": self.state,
            "notebook": str(self.path),
            "exit_value": self.exit_value,
            "datasets": [],
            "tasks": [],
            "cells": told_cells,
            "files": dict(self.files),
            "seconds": round(self.seconds, 3),
            **({"error": str(self.error)} if self.error else {}),
        }
