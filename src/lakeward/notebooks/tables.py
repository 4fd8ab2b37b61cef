"""Frames and other values as a notebook shows them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

__all__ = ["ROWS", "html_table", "plain", "shown", "text_table"]

ROWS = 1000
"""The platform shows as many rows of a frame."""


def shown(value: Any) -> dict[str, str]:
    """A value's representations: `text`, and `html` where it has one."""
    if hasattr(value, "to_spark"):  # pandas on Spark
        value = value.to_spark()
    if hasattr(value, "limit") and hasattr(value, "toDF"):  # a batch frame of Spark's
        rows = value.limit(ROWS).collect()
        return {"text": text_table(value.columns, rows), "html": html_table(value.columns, rows)}
    if isinstance(value, list) and value and isinstance(value[0], tuple) and hasattr(value[0], "_fields"):
        columns = list(value[0]._fields)
        return {"text": text_table(columns, value), "html": html_table(columns, value)}
    if isinstance(value, list) and value and hasattr(value[0], "asDict"):
        columns = list(value[0].asDict())
        return {"text": text_table(columns, value), "html": html_table(columns, value)}
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        columns = list(value[0])
        rows = [[row.get(column) for column in columns] for row in value]
        return {"text": text_table(columns, rows), "html": html_table(columns, rows)}
    return plain(value)


def plain(value: Any) -> dict[str, str]:
    """What a value says of itself, as the last expression of a cell shows it."""
    to_html = getattr(value, "_repr_html_", None)
    as_html = to_html() if callable(to_html) and not isinstance(value, type) else None
    return {"text": repr(value), **({"html": as_html} if isinstance(as_html, str) else {})}


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as an HTML table.

    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td{_kind(value)}>{html.escape(_text(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as text with a rule under the names."""
    lines = [list(columns), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    drawn = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines]
    drawn.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in drawn)


def _kind(value: Any) -> str:
    """The class of a cell whose value is not read like a text."""
    if value is None:
        return ' class="null"'
    if isinstance(value, bool):
        return ""
    if isinstance(value, int | float | Decimal):
        return ' class="number"'
    return ' class="date"' if isinstance(value, date) else ""


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
