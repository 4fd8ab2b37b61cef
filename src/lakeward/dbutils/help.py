"""The text of `dbutils.help()`, generated from the table of functions."""

from __future__ import annotations

from lakeward.dbutils.api_table import FUNCTIONS, GROUPS


def text_of(group: str | None = None, function: str | None = None) -> str:
    """Return the help of `dbutils`, of one group, or of one function.

    Raises ValueError for a name that is not in the table.
    """
    if group is None:
        known = [f"{name}: {about}" for name, about in GROUPS.items() if "." not in name]
        return "\n".join(("dbutils", *known, "", 'More: dbutils.fs.help(), dbutils.fs.help("ls") …'))
    rows = [row for row in FUNCTIONS if row.group == group]
    if function is None:
        inner = [f"{name}: {about}" for name, about in GROUPS.items() if name.startswith(f"{group}.")]
        lines = [f"{row.name}{row.signature}: {row.description}" for row in rows]
        return "\n".join((f"dbutils.{group}: {GROUPS[group]}.", *inner, *lines))
    for row in rows:
        if row.name == function:
            return f"{row.full_name}{row.signature}\n{row.description}"
    names = ", ".join(row.name for row in rows)
    raise ValueError(f"dbutils.{group} has no function {function!r}; there are {names}")
