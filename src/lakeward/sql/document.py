"""The table of constructs as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from lakeward.sql.construct import Construct
from lakeward.sql.constructs import CONSTRUCTS
from lakeward.sql.platform_functions import ADDED, MISSING

__all__ = ["as_markdown"]

_HEAD = """# Databricks SQL

Every statement goes to Spark's own parser first, letter for letter. What follows says what becomes of the
rest. The page is generated from the table in `lakeward.sql`.

| verdict | meaning |
|---|---|
| as is | Spark runs it; it reaches Spark unchanged |
| rewritten | single tokens are replaced before Spark parses; strings, comments and positions stay |
| added | carried out here |
| refused | a clear error, `UNSUPPORTED_SQL`, says why |
"""


def as_markdown(constructs: Iterable[Construct] = CONSTRUCTS) -> str:
    """One table an area, in the order of their declaration."""
    parts = [_HEAD]
    for area, rows in groupby(constructs, key=lambda c: c.area):
        lines = [f"## {area}\n", "| construct | here | example | note | shown by |", "|---|---|---|---|---|"]
        for row in rows:
            cells = (row.name, row.verdict, _code(row.example), row.note, f"`{row.test}`")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join([*parts, _functions()])


def _functions() -> str:
    same = [f"`{name}` (Spark's `{of}`)" if of else f"`{name}`" for name, of in ADDED.items()]
    lines = [
        "## Functions that Spark lacks\n",
        f"Added: {', '.join(same)}.\n",
        "| missing | because |",
        "|---|---|",
    ]
    lines += [f"| {', '.join(f'`{n}`' for n in group.names)} | {group.reason} |" for group in MISSING]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"
