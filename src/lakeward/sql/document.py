"""The table of constructs as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from lakeward.session import INFORMATION_SCHEMA
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
_POLICIES = """## Row filters and column masks

A table's filter and masks hold wherever its name is read through lakeward: in SQL, `spark.table`, views,
streams, `table_changes`, `DeltaTable.toDF()`. `INSERT`, `UPDATE`, `DELETE`, `MERGE` and `COPY INTO` write to
the table itself, all its rows and values included. Functions are those of `CREATE FUNCTION`; whom they see is
`current_user()` and the groups of `spark.lakeward.groups`, or LAKEWARD_GROUPS.

They show what code does under a policy and are no security boundary: whoever reads the folder, by path or
with another tool, reads everything.

| refused | condition |
|---|---|
| time travel | `ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.TIME_TRAVEL` |
| a policy on a view | `ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.VIEWS` |
| a policy on a table with CHECK constraints | `ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.CHECK_CONSTRAINT` |
| a clone of the table | `ROW_LEVEL_SECURITY_TABLE_CLONE_SOURCE_NOT_SUPPORTED` |
| renaming, retyping or dropping a column that it uses | `ROW_LEVEL_SECURITY_INCOMPATIBLE_SCHEMA_CHANGE` |
| a column twice among a filter's arguments | `ROW_LEVEL_SECURITY_DUPLICATE_COLUMN_NAME` |

Of masks the conditions begin with `COLUMN_MASKS`.
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
    return "\n".join([*parts, _POLICIES, _information_schema(), _functions()])


def _information_schema() -> str:
    relations = ", ".join(f"`{name}`" for name in INFORMATION_SCHEMA)
    return f"""## The information schema

`<catalog>.information_schema` tells of its catalog, `system.information_schema` of all; the columns are the
platform's. Keys and grants are shown as they were stated, and nobody enforces them. What the platform knows
and one machine does not is null.

Relations: {relations}.
"""


def _functions() -> str:
    same = [f"`{name}` (Spark's `{of}`)" if of else f"`{name}`" for name, of in ADDED.items()]
    lines = [
        "## Functions that Spark lacks\n",
        f"Added: {', '.join(same)}.\n",
        "What is refused fails with `UNSUPPORTED_SQL`, what is missing with Spark's `UNRESOLVED_ROUTINE`, or",
        "in FROM with `UNRESOLVABLE_TABLE_VALUED_FUNCTION`.\n",
        "| functions | here | because |",
        "|---|---|---|",
    ]
    for group in MISSING:
        names = ", ".join(f"`{name}`" for name in group.names)
        lines.append(f"| {names} | {'refused' if group.refused else 'missing'} | {group.reason} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"
