"""Writes the files of a notebook run: `.ipynb` and `.html`, a self-contained page."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.dbutils import Redactor, redactor
from lakeward.notebooks.model import NotebookRun
from lakeward.notebooks.recorder import CellRecord

_TEXTS = ("text", "ename", "evalue", "traceback")
_PICTURES = ("image/png", "image/jpeg")
_TITLE_LINE = re.compile(r"\A(?:#|--) DBTITLE .*\n")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
section { border-left: 3px solid #8884; margin: 1rem 0; padding: .1rem 0 .1rem 1rem; }
section.FAILED { border-color: #c33; } section.SKIPPED { opacity: .55; }
pre { overflow-x: auto; padding: .6rem .8rem; background: #8881; border-radius: 4px; margin: .4rem 0; }
pre.output { background: none; } pre.error { color: #c33; white-space: pre-wrap; }
.about { color: #888; font-size: 12px; }
.scroll { overflow: auto; max-height: 26rem; }
table { border-collapse: collapse; font-size: 13px; }
th, td { border: 1px solid #8884; padding: .2rem .6rem; text-align: left; vertical-align: top; }
th { position: sticky; top: 0; background: Canvas; } img { max-width: 100%; }
td.number { text-align: right; } td.number, td.date { white-space: nowrap; } td.null { color: #888; }
"""


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
    texts = {"ipynb": json.dumps(as_ipynb(shown), indent=1, ensure_ascii=False), "html": _page(shown)}
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
        kind: value if kind in _PICTURES else redact.value(value) for kind, value in output["data"].items()
    }
    return {**output, "data": data}


def _add_magic(cell: CellRecord) -> str:
    """Return the source of a cell of a Python notebook: other languages begin with their magic."""
    text = cell.source.strip()
    if cell.language == "python" or text.startswith("%"):
        return cell.source
    return f"%{cell.language}\n{cell.source}" if "\n" in text else f"%{cell.language} {text}"


def as_ipynb(run: NotebookRun) -> Mapping[str, Any]:
    """Return the run in nbformat 4.5."""
    cells: list[dict[str, Any]] = []
    for at, cell in enumerate(run.cells, start=1):
        shared = {"id": f"cell-{at}", "metadata": {"title": cell.title} if cell.title else {}}
        if cell.language == "md":
            cells.append({"cell_type": "markdown", **shared, "source": cell.source})
            continue
        ran = {"execution_count": at if cell.state != "SKIPPED" else None, "outputs": cell.outputs}
        cells.append({"cell_type": "code", **shared, "source": _add_magic(cell), **ran})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": cells}


def _page(run: NotebookRun) -> str:
    """Return the page. Text is escaped, displayed HTML is not."""
    name = html.escape(run.path.name)
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{name}: {run.state}</title><style>{_STYLE}{_highlighting()}</style></head><body>",
        f"<h1>{name}</h1><p class='about'>{run.state} in {run.seconds:.1f} s</p>",
        *(_section(cell) for cell in run.cells),
    ]
    if run.exit_value is not None:
        parts.append(f"<p>Exit value: <code>{html.escape(run.exit_value)}</code></p>")
    parts.append("</body></html>")
    return "\n".join(parts)


def _section(cell: CellRecord) -> str:
    title = f"<h3>{html.escape(cell.title)}</h3>" if cell.title else ""
    if cell.language == "md":
        return f"<section>{title}{_markdown(cell.source)}</section>"
    about = f"<p class='about'>cell {cell.number} · {cell.language} · {cell.state} · {cell.seconds:.1f} s</p>"
    outputs = "".join(_output(output) for output in cell.outputs)
    code = _code(_TITLE_LINE.sub("", cell.source), cell.language)
    return f'<section class="{cell.state}">{title}{about}{code}{outputs}</section>'


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f'<pre class="output">{html.escape(output["text"])}</pre>'
    if output["output_type"] == "error":
        return f'<pre class="error">{html.escape(output["traceback"][-1])}</pre>'
    data = output["data"]
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return f'<div class="scroll">{data[kind]}</div>'
    for kind in _PICTURES:
        if kind in data:
            return f'<img alt="figure" src="data:{kind};base64,{data[kind]}">'
    if "text/markdown" in data:
        return f"<div>{_markdown(data['text/markdown'])}</div>"
    if "application/javascript" in data:
        return f"<script>{data['application/javascript']}</script>"
    for kind in ("text/latex", "application/json"):
        if kind in data:
            text = data[kind] if isinstance(data[kind], str) else json.dumps(data[kind], indent=2)
            return f'<pre class="output">{html.escape(text)}</pre>'
    return f'<pre class="output">{html.escape(data["text/plain"])}</pre>'


def _markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    source = "\n".join([lines[0].removeprefix("%md-sandbox").removeprefix("%md").lstrip(), *lines[1:]])
    rendered: str = MarkdownIt("commonmark").enable("table").render(source)
    return rendered


def _code(source: str, language: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name({"sql": "sql", "sh": "bash"}.get(language, "python"))
    return str(highlight(source, lexer, HtmlFormatter()))


def _highlighting() -> str:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    plain = ".highlight { background: none !important; }"
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n{plain}"
