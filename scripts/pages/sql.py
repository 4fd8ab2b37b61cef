"""Generate docs/sql.md from the table of constructs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from lakeward.session import INFORMATION_SCHEMA, geospatial_functions
from lakeward.sql.construct import Construct
from lakeward.sql.platform_functions import ADDED, MISSING
from lakeward.sql.rewriter import CONSTRUCTS

_HEAD = """# Databricks SQL

Every statement is first passed to Spark's parser unchanged. The tables below list the constructs of
Databricks SQL and how each is executed. The page is generated from the tables in `lakeward.sql`.

| verdict | meaning |
|---|---|
| supported | Spark executes the unchanged statement |
| rewritten | tokens are replaced before Spark parses; strings, comments and error positions are preserved |
| emulated | lakeward executes it |
| unsupported | fails with `UNSUPPORTED_SQL` and the reason |
"""
_AREAS = (
    "Catalogs and schemas",
    "Tables",
    "Views",
    "Materialized views and streaming tables",
    "Pipelines",
    "Volumes",
    "Loading files",
    "Queries and scripts",
    "Expressions",
    "Functions",
    "Transactions",
    "Governance",
    "Settings of the platform",
)
_POLICIES = """## Row filters and column masks

Filters and masks of a table apply to every read by name: in SQL, `spark.table`, views,
streams, `table_changes`, `DeltaTable.toDF()`. `INSERT`, `UPDATE`, `DELETE`, `MERGE` and `COPY INTO` write to
the table itself, with all its rows and values. Policy functions are SQL functions (`CREATE FUNCTION`). The
user is `current_user()`, with the groups of `spark.lakeward.groups` or `LAKEWARD_GROUPS`.

Policies show how code behaves under them. They are not a security boundary: anyone who reads the folder, by
path or with another tool, reads everything.

| unsupported | condition |
|---|---|
| time travel | `ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.TIME_TRAVEL` |
| a policy on a view | `ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.VIEWS` |
| a policy on a table with CHECK constraints | `ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.CHECK_CONSTRAINT` |
| a clone of the table | `ROW_LEVEL_SECURITY_TABLE_CLONE_SOURCE_NOT_SUPPORTED` |
| changing or dropping a column that a policy uses | `ROW_LEVEL_SECURITY_INCOMPATIBLE_SCHEMA_CHANGE` |
| a column twice among a filter's arguments | `ROW_LEVEL_SECURITY_DUPLICATE_COLUMN_NAME` |

The conditions of masks begin with `COLUMN_MASKS`.
"""


def as_markdown(constructs: Iterable[Construct] = CONSTRUCTS) -> str:
    """Return the page: one table per area, with rows in the order of declaration."""
    parts = [_HEAD]
    ordered = sorted(constructs, key=lambda construct: _AREAS.index(construct.area))
    for area, rows in groupby(ordered, key=lambda construct: construct.area):
        lines = [
            f"## {area}\n",
            "| construct | verdict | example | note | shown by |",
            "|---|---|---|---|---|",
        ]
        for row in rows:
            cells = (row.name, row.verdict, _code(row.example), row.note, f"`{row.test}`")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join([*parts, _POLICIES, _information_schema(), _functions()])


def _information_schema() -> str:
    relations = ", ".join(f"`{name}`" for name in INFORMATION_SCHEMA)
    return f"""## The information schema

`<catalog>.information_schema` describes its catalog, `system.information_schema` all catalogs; the columns
are the platform's. Keys and grants are shown as declared and are not enforced. Columns without a value in
a local lakehouse are null.

Relations: {relations}.
"""


def _functions() -> str:
    geospatial = {function.name for function in geospatial_functions()}
    added = [
        f"`{name}` (Spark's `{of}`)" if of else f"`{name}`"
        for name, of in ADDED.items()
        if name not in geospatial
    ]
    lines = [
        "## Functions that Spark lacks\n",
        f"Added: {', '.join(added)}.\n",
        "Unsupported functions fail with `UNSUPPORTED_SQL`, missing ones with Spark's `UNRESOLVED_ROUTINE`,",
        "or in FROM with `UNRESOLVABLE_TABLE_VALUED_FUNCTION`.\n",
        "| functions | verdict | reason |",
        "|---|---|---|",
    ]
    for group in MISSING:
        names = ", ".join(f"`{name}`" for name in group.names)
        lines.append(f"| {names} | {'unsupported' if group.unsupported else 'missing'} | {group.reason} |")
    return "\n".join(lines) + "\n\n" + _geospatial()


def _geospatial() -> str:
    calls = ", ".join(f"`{function.signature}`" for function in geospatial_functions())
    return f"""## Geospatial functions

{calls}.

Spark has `st_asbinary`, `st_geogfromwkb`, `st_geomfromwkb`, `st_setsrid`, `st_srid`. `geo` is a GEOMETRY or a
GEOGRAPHY, `text` a STRING or BINARY, `cell` a BIGINT or STRING. Measures of geographies and
`st_distancespheroid` are those of the ellipsoid WGS84. The errors have the platform's conditions
(`ST_INVALID_ARGUMENT`, `ST_DIFFERENT_SRID_VALUES`, `WKT_PARSE_ERROR`, `H3_INVALID_CELL_ID`, …). Regions that
cells cover have edges straight in longitude and latitude; the cells are in ascending order.

| different here | what to do |
|---|---|
| `st_transform` knows SRIDs 4326 and 3857, else `UNSUPPORTED_SQL` | store geometries in one of the two |
| Delta refuses geometry columns (`DELTA_GEOSPATIAL_NOT_SUPPORTED`) | store `st_aswkb(g)` |
| Spark cannot group or join by the equality of geometries | group by `st_aswkb(g)`, join with `st_equals` |
"""


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"
