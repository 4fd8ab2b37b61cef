"""Writes the files of a notebook run: `.ipynb` and `.html`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.dbutils import Redactor, redactor
from lakeward.notebooks.html_export import page
from lakeward.notebooks.model import NotebookRun

_TEXTS = ("text", "ename", "evalue", "traceback")


def write(run: NotebookRun, folder: Path) -> NotebookRun:
    """Write `<name>.ipynb` and `<name>.html` into `folder`, and those of notebooks that it ran.

    Returns the run with the paths of the files. Files of an earlier run are replaced. Secrets
    are redacted before the content is escaped, and only the owner can read the files.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    stem = run.path.stem
    for at, child in enumerate(run.children, start=1):
        write(child, folder / f"{stem}.runs" / str(at))
    files = {"ipynb": folder / f"{stem}.ipynb", "html": folder / f"{stem}.html"}
    shown = without_secrets(run)
    texts = {"ipynb": json.dumps(as_ipynb(shown), indent=1, ensure_ascii=False), "html": page(shown)}
    for form, file in files.items():
        atomic_write(file, texts[form], mode=0o600)
    return replace(run, files={form: str(file) for form, file in files.items()})


def without_secrets(run: NotebookRun) -> NotebookRun:
    """Return the run with secrets redacted in the sources, outputs and exit value of its cells."""
    redact = redactor()
    cells = tuple(
        replace(
            cell,
            source=redact(cell.source),
            title=redact(cell.title),
            outputs=[_shown(output, redact) for output in cell.outputs],
        )
        for cell in run.cells
    )
    exit_value = None if run.exit_value is None else redact(run.exit_value)
    return replace(run, cells=cells, exit_value=exit_value)


def _shown(output: Mapping[str, Any], redact: Redactor) -> dict[str, Any]:
    if "data" not in output:
        # The names of nbformat's own fields stay what they are, whatever the secrets.
        return {name: redact.value(value) if name in _TEXTS else value for name, value in output.items()}
    data = {
        kind: value if kind.startswith("image/") else redact.value(value)
        for kind, value in output["data"].items()
    }
    return {**output, "data": data}


def as_ipynb(run: NotebookRun) -> Mapping[str, Any]:
    """Return the run in nbformat 4.5."""
    cells: list[dict[str, Any]] = []
    for at, cell in enumerate(run.cells, start=1):
        shared = {"id": f"cell-{at}", "metadata": {"title": cell.title} if cell.title else {}}
        if cell.language == "md":
            cells.append({"cell_type": "markdown", **shared, "source": cell.source})
            continue
        ran = {"execution_count": at if cell.state != "SKIPPED" else None, "outputs": cell.outputs}
        cells.append({"cell_type": "code", **shared, "source": cell.source, **ran})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": cells}
