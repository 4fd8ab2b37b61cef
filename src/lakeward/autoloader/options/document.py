"""The table of options as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterable

from lakeward.autoloader.options.declared import OPTIONS, Option

__all__ = ["as_markdown"]


def as_markdown(options: Iterable[Option] = OPTIONS) -> str:
    """One row an option, in the order of their declaration."""
    lines = ["| option | type | default | formats | here | note |", "|---|---|---|---|---|---|"]
    for row in options:
        default = "" if row.default is None else f"`{row.default}`"
        kind = " / ".join(row.choices) if row.choices else row.kind
        cells = (f"`{row.key}`", kind, default, ", ".join(row.formats) or "all", row.verdict, row.note)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
