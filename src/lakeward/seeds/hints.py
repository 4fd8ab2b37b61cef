"""Hints for missing tables. No Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lakeward.quoting import is_placeholder

_MISSING = re.compile(
    # Errors of notebooks and pipelines name cell, file and line first.
    r"\[TABLE_OR_VIEW_NOT_FOUND\](?:[^\n`]*:)? The table or view ((?:`(?:[^`]|``)*`\.?)+|\S+) cannot be found"
)
_PARTS = re.compile(r"`((?:[^`]|``)*)`")
_SEARCH_PATH = re.compile(r"Search path: \[((?:`(?:[^`]|``)*`[., ]*){2,})\]")


def missing_table(text: str) -> list[str] | None:
    """Return the parts of the name in an error about a missing table; None for other errors.

    >>> missing_table("[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b.c` cannot be found. Verify …")
    ['a', 'b.c']
    >>> missing_table("[TABLE_OR_VIEW_NOT_FOUND] cell 1, /a b/n.py:2: The table or view `t` cannot be found.")
    ['t']
    """
    return next(missing_tables(text), None)


def missing_tables(text: str) -> Iterator[list[str]]:
    """Yield the parts of each name in errors about missing tables."""
    for found in _MISSING.finditer(text):
        parts = _PARTS.findall(found.group(1))
        yield [part.replace("``", "`") for part in parts] or found.group(1).split(".")


def current_schema_of(text: str) -> tuple[str, str] | None:
    """Return the catalog and schema that were current where an error searched a table; None if it names none.

    >>> current_schema_of("Search path: [`system`.`builtin`, `system`.`session`, `dev`.`a.b`].")
    ('dev', 'a.b')
    >>> current_schema_of("The table or view `t` cannot be found. Verify the spelling.")
    """
    path = _SEARCH_PATH.search(text)
    if path is None:
        return None
    # The current schema is the last one.
    catalog, schema = (part.replace("``", "`") for part in _PARTS.findall(path.group(1))[-2:])
    return (catalog, schema) if catalog != "system" else None


def seed_hint(name: str) -> str:
    """Return one sentence on how to create a table of the workspace locally, to follow the error."""
    if is_placeholder(name):
        return (
            "A part of the name is known at run time alone. Tables of your workspace get rows with "
            "`lakeward seed NAME --from FILE`, under [tool.lakeward.seeds] in pyproject.toml, "
            "with `lakehouse.seed(…)` in a test, or with `lakeward pull`."
        )
    return (
        f"If {name} is a table of your workspace, give it rows: `lakeward seed {name} --from FILE`, "
        f'`"{name}" = "FILE"` under [tool.lakeward.seeds] in pyproject.toml, '
        f'`lakehouse.seed("{name}", rows)` in a test, or `lakeward pull {name} --limit 1000`.'
    )
