"""The text of `dbutils.help()`, from the declared table."""

from __future__ import annotations

from lakeward.dbutils.api_table import FUNCTIONS, GROUPS, Function


def text_of(group: str | None = None, function: str | None = None) -> str:
    """The help of all of `dbutils`, of one group, or of one function of it.

    Raises ValueError for a name that is not in the table.
    """
    if group is None:
        known = [f"{name}: {about}" for name, about in GROUPS.items() if "." not in name]
        return "\n".join(("dbutils", *known, "", 'More: dbutils.fs.help(), dbutils.fs.help("ls") …'))
    rows = [row for row in FUNCTIONS if row.group == group]
    if function is None:
        inner = [f"{name}: {about}" for name, about in GROUPS.items() if name.startswith(f"{group}.")]
        lines = [f"{row.name}{row.signature}: {_told(row)}" for row in rows]
        return "\n".join((f"dbutils.{group}: {GROUPS[group]}.", *inner, *lines))
    for row in rows:
        if row.name == function:
            return f"{row.full_name}{row.signature}\n{_told(row)}"
    names = ", ".join(row.name for row in rows)
    raise ValueError(f"dbutils.{group} has no function {function!r}; there are {names}")


def as_markdown() -> str:
    """One row a function, for the documentation."""
    lines = ["| function | here | what it does |", "|---|---|---|"]
    lines += [f"| `{row.full_name}{row.signature}` | {row.verdict} | {_told(row)} |" for row in FUNCTIONS]
    return "\n".join(lines) + "\n"


def _told(row: Function) -> str:
    return f"{row.sentence} Here: {row.note}." if row.note else row.sentence
