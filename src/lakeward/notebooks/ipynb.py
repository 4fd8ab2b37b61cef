"""Notebooks kept as `.ipynb`."""

from __future__ import annotations

import json
from typing import Any

from lakeward.notebooks.cells import Cell, Notebook, named_magic

__all__ = ["parse_ipynb"]

# A cell that begins with one of these is Python all the same: they say something about its code, or are one
# line among lines of code.
_ABOUT_CODE = ("time", "timeit", "capture", "matplotlib", "load_ext", "autoreload", "config", "env")
_ONE_LINE = ("run", "pip", "conda")


def parse_ipynb(content: bytes) -> Notebook:
    """The code and text cells. Raises ValueError for what is no notebook."""
    try:
        notebook = json.loads(content)
        about = notebook.get("metadata", {})
        language = str(
            about.get("application/vnd.databricks.v1+notebook", {}).get("language")
            or about.get("kernelspec", {}).get("language")
            or "python"
        ).lower()
        raw = [
            (number, str(cell.get("cell_type")), "".join(cell.get("source") or ()), _title(cell))
            for number, cell in enumerate(notebook["cells"], start=1)
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is no notebook: {error!r}") from None
    cells = [
        _code(number, source, title, language) if kind == "code" else Cell(number, "md", source, title=title)
        for number, kind, source, title in raw
        if kind in ("code", "markdown")
    ]
    return Notebook(language, "ipynb", tuple(cells))


def _title(cell: dict[str, Any]) -> str:
    about = cell.get("metadata", {}).get("application/vnd.databricks.v1+cell", {})
    return str(about.get("title") or "")


def _code(number: int, source: str, title: str, language: str) -> Cell:
    magic = named_magic(source)
    if magic is None or magic[0] in _ABOUT_CODE or (magic[0] in _ONE_LINE and "\n" in source.strip()):
        return Cell(number, language, source, title=title)
    return Cell(number, magic[0], magic[1], title=title, is_magic=True)
