"""The outcome of a run as `.ipynb` and as an HTML page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lakeward.dbutils import redacted
from lakeward.notebooks.outcome import NotebookRun
from lakeward.notebooks.page import page
from lakeward.whole_files import write_whole

__all__ = ["as_ipynb", "write"]


def write(run: NotebookRun, folder: Path) -> NotebookRun:
    """Write `<name>.ipynb` and `<name>.html` into `folder`, and those of notebooks that it ran.

    The run is given back with the files' places. An earlier outcome of the same notebook is replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stem = run.path.stem
    for at, child in enumerate(run.children, start=1):
        write(child, folder / f"{stem}.runs" / str(at))
    files = {"ipynb": folder / f"{stem}.ipynb", "html": folder / f"{stem}.html"}
    texts = {"ipynb": json.dumps(as_ipynb(run), indent=1, ensure_ascii=False), "html": page(run)}
    for form, file in files.items():
        write_whole(file, redacted(texts[form]))
    return replace(run, files={form: str(file) for form, file in files.items()})


def as_ipynb(run: NotebookRun) -> Mapping[str, Any]:
    """The run as nbformat 4.5 has it."""
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
