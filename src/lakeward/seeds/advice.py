"""What to do about a table that is not there. No Spark."""

from __future__ import annotations

import re

__all__ = ["missing_table", "ways"]

_MISSING = re.compile(
    r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view ((?:`(?:[^`]|``)*`\.?)+|\S+) cannot be found"
)


def missing_table(text: str) -> str | None:
    """The name in an error that says a table is missing, None for any other error.

    >>> missing_table("[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b` cannot be found. Verify …")
    'a.b'
    """
    found = _MISSING.search(text)
    if found is None:
        return None
    parts = re.findall(r"`((?:[^`]|``)*)`", found.group(1))
    return ".".join(part.replace("``", "`") for part in parts) if parts else found.group(1)


def ways(name: str) -> str:
    """One sentence on how a table of the workspace gets rows here, to be read after the error."""
    return (
        f"If {name} is a table of your workspace, give it rows: `lakeward seed {name} --from FILE`, "
        f'`"{name}" = "FILE"` under [tool.lakeward.seeds] in pyproject.toml, '
        f'`lakehouse.seed("{name}", rows)` in a test, or `lakeward pull {name} --limit 1000`.'
    )
