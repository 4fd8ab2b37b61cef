"""Parses `.ipynb` files: notebooks, and queries of the SQL editor (`.dbquery.ipynb`)."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

from lakeward.notebooks.ipython_syntax import read_cell
from lakeward.notebooks.model import Cell, Notebook
from lakeward.notebooks.notebook_environment import dependencies_of_metadata


def parse_ipynb(content: bytes) -> Notebook:
    """Return the code and text cells. Raises ValueError for an invalid notebook."""
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
        dependencies = dependencies_of_metadata(about)
        default_schema = _default_schema(about)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is not a notebook: {_reason(error, content)}") from None
    cells = [
        _code(number, source, title, language) if kind == "code" else Cell(number, "md", source, title=title)
        for number, kind, source, title in raw
        if kind in ("code", "markdown")
    ]
    return Notebook(language, "ipynb", tuple(cells), dependencies, default_schema)


def _reason(error: Exception, content: bytes) -> str:
    """Return what is wrong, in words; the text of an error of decoding would be the whole file."""
    if not content.strip():
        return "the file is empty"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error}"
    if isinstance(error, KeyError):
        return f"it has no {error}"
    return f"its JSON has another form ({type(error).__name__}: {error})"


def _default_schema(about: dict[str, Any]) -> tuple[str, ...]:
    """Return the catalog and the schema that are selected for a query (`.dbquery.ipynb`).

    A schema without a catalog is one of the current catalog, whose name the file lacks: it is not returned.
    """
    options = about
    for key in ("application/vnd.databricks.v1+notebook", "notebookMetadata", "sqlQueryOptions"):
        options = options.get(key) or {}
    names = (options.get("catalog"), options.get("schema"))
    return tuple(str(name) for name in takewhile(bool, names))


def _title(cell: dict[str, Any]) -> str:
    about = cell.get("metadata", {}).get("application/vnd.databricks.v1+cell", {})
    return str(about.get("title") or "")


def _code(number: int, source: str, title: str, language: str) -> Cell:
    name, text, is_magic = read_cell(source, language)
    return Cell(number, name, text, title=title, is_magic=is_magic)
