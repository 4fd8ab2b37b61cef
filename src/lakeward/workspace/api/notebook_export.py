"""Export of notebooks as SOURCE, JUPYTER and HTML, converted from the cells of the stored file."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    ApiResponse,
    invalid_parameter,
    workspace_handlers,
)
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

if TYPE_CHECKING:
    from lakeward.notebooks import Cell, Notebook

_FORMATS = ("SOURCE", "HTML", "JUPYTER", "AUTO", "RAW")
_COMMENTS = {"python": "#", "sql": "--", "scala": "//", "r": "#"}
_MARKS = re.compile(r"^(?:#|--) (?:Databricks notebook source|DBTITLE \d+,.*)$\n?", re.MULTILINE)
_TYPES = {"SOURCE": "", "JUPYTER": "ipynb", "HTML": "html"}


def export(call: ServerRequest) -> ApiResponse | Document:
    """Return a notebook in a format, or a file as it is."""
    layout = call.query.get("format") or "SOURCE"
    if layout not in _FORMATS:
        message = f"The format {layout[:20]!r} is not exported here: use {', '.join(_FORMATS)}."
        if layout in ("DBC", "R_MARKDOWN"):
            raise ApiError(501, "NOT_IMPLEMENTED", message)
        raise invalid_parameter(message)
    # The server starts without what notebooks need.
    from lakeward.notebooks import parse

    path, place = workspace_handlers.find_object(call)
    is_notebook = place.is_file() and (workspace_handlers.describe(path, place)["object_type"] == "NOTEBOOK")
    if not is_notebook or layout in ("AUTO", "RAW"):
        return workspace_handlers.export(call)
    if layout == "SOURCE" and place.suffix != ".ipynb":
        return workspace_handlers.export(call)
    try:
        notebook = parse(place.read_bytes(), place.suffix)
    except ValueError:
        notebook = None
    if notebook is None:
        # A language without cells here, or a damaged file.
        return workspace_handlers.export(call)
    name = path.rpartition("/")[2]
    data = _CONVERSIONS[layout](notebook, name).encode()
    if call.flag("direct_download"):
        return ApiResponse(data, {"Content-Type": "application/octet-stream"})
    return {"content": base64.b64encode(data).decode(), "file_type": _TYPES[layout] or "py"}


def as_source(notebook: Notebook, _: str = "") -> str:
    """Return a notebook as a source file with COMMAND lines."""
    mark = _COMMENTS.get(notebook.language, "#")
    blocks = []
    for cell in notebook.cells:
        lines = [f"{mark} DBTITLE 1,{cell.title}"] if cell.title else []
        text = _cell_text(notebook, cell)
        if text.startswith("%"):
            lines += [f"{mark} MAGIC {line}".rstrip() for line in text.split("\n")]
        else:
            lines.append(text)
        blocks.append("\n".join(lines))
    separator = f"\n\n{mark} COMMAND ----------\n\n"
    return f"{mark} Databricks notebook source\n{separator.join(blocks)}\n"


def as_jupyter(notebook: Notebook, name: str) -> str:
    """Return a notebook as nbformat 4.0 JSON, without outputs."""
    cells = []
    for cell in notebook.cells:
        about = {"cellMetadata": {}, "inputWidgets": {}, "showTitle": bool(cell.title), "title": cell.title}
        is_text = cell.language == "md"
        text = cell.source.strip() if is_text else _cell_text(notebook, cell)
        made: dict[str, Any] = {
            "cell_type": "markdown" if is_text else "code",
            "metadata": {"application/vnd.databricks.v1+cell": about},
            "source": text.splitlines(keepends=True),
        }
        if made["cell_type"] == "code":
            made.update(execution_count=None, outputs=[])
        cells.append(made)
    about_notebook = {
        "dashboards": [],
        "language": notebook.language,
        "notebookMetadata": {},
        "notebookName": name,
        "widgets": {},
    }
    metadata = {
        "application/vnd.databricks.v1+notebook": about_notebook,
        "language_info": {"name": notebook.language},
    }
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 0}, indent=1)


def as_html(notebook: Notebook, name: str) -> str:
    """Return a notebook as a page that needs nothing else."""
    blocks = []
    for cell in notebook.cells:
        title = f"<h3>{html.escape(cell.title)}</h3>" if cell.title else ""
        text = html.escape(_cell_text(notebook, cell))
        blocks.append(f'{title}<pre class="{html.escape(cell.language)}"><code>{text}</code></pre>')
    title = html.escape(name)
    style = "body{font-family:sans-serif;margin:2em}pre{background:#f5f5f5;padding:1em;overflow:auto}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{style}</style></head>\n<body><h1>{title}</h1>\n{chr(10).join(blocks)}\n</body></html>\n"
    )


def _cell_text(notebook: Notebook, cell: Cell) -> str:
    """Return a cell with its magic where it is not of the notebook's language."""
    text = _MARKS.sub("", cell.source).strip("\n")
    if cell.language == notebook.language and not cell.is_magic:
        return text
    separator = "\n" if "\n" in text.strip() else " "
    return f"%{cell.language}{separator}{text.strip()}"


_CONVERSIONS: dict[str, Callable[[Notebook, str], str]] = {
    "SOURCE": as_source,
    "JUPYTER": as_jupyter,
    "HTML": as_html,
}
