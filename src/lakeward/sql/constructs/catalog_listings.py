"""SHOW TABLES, COLUMNS, FUNCTIONS, KEYS and FOREIGN KEYS of a catalog, as drivers send them.

The language manual does not have these statements. Clients of the REST API request metadata by them:
databricks-sql-connector with `use_sea=True`, and the JDBC driver with `UseThriftClient=0`. The columns are
those that both read.

Source: https://github.com/databricks/databricks-jdbc (CommandConstants, MetadataResultConstants, and the
answer to SHOW TABLES IN CATALOG that its tests have recorded)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.quoting import quote_name, quote_string
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.keys import stored_keys
from lakeward.sql.session_context import current_context, regular_expressions
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# java.sql.DatabaseMetaData.importedKeyNoAction and importedKeyNotDeferrable
_NO_ACTION, _NOT_DEFERRABLE = 3, 7
# The columns that every interface of drivers has.
JDBC_TABLE_TYPE = "IF(table_type LIKE '%VIEW', 'VIEW', 'TABLE')"
# java.sql.DatabaseMetaData.functionReturnsTable and functionNoTable
JDBC_FUNCTION_TYPE = "IF(data_type = 'TABLE', 2, 1)"
JDBC_SPECIFIC_NAME = "concat_ws('.', routine_catalog, routine_schema, routine_name)"
_EXPRESSIONS = {
    "table_type": JDBC_TABLE_TYPE,
    "function_type": JDBC_FUNCTION_TYPE,
    "specific_name": JDBC_SPECIFIC_NAME,
}
_TABLES = """
SELECT table_schema AS namespace, table_name AS tableName, false AS isTemporary, '' AS information,
       table_catalog AS catalogName, {table_type} AS tableType,
       comment AS remarks
FROM system.information_schema.tables WHERE {} ORDER BY 5, 1, 2
"""
_COLUMNS = """
SELECT column_name AS col_name, table_catalog AS catalogName, table_schema AS namespace,
       table_name AS tableName, upper(full_data_type) AS columnType,
       numeric_precision AS columnSize, numeric_scale AS decimalDigits, numeric_precision_radix AS radix,
       IF(is_nullable = 'NO', 'false', 'true') AS isNullable, comment AS remarks,
       ordinal_position AS ordinalPosition, 'NO' AS isAutoIncrement,
       is_generated AS isGenerated
FROM system.information_schema.columns WHERE {} ORDER BY 2, 3, 4, 11
"""
_FUNCTIONS = """
SELECT routine_name AS functionName, routine_schema AS namespace, routine_catalog AS catalogName,
       comment AS remarks, CAST({function_type} AS SMALLINT) AS functionType,
       {specific_name} AS specificName
FROM system.information_schema.routines WHERE {} ORDER BY 3, 2, 1
"""


@dataclass(frozen=True)
class _Listing:
    """A listing: its query, the prefix of the name's columns, and the column of each pattern by its words."""

    query: str
    prefix: str
    patterns: Mapping[str, str]


_LISTINGS = {
    "TABLES": _Listing(_TABLES, "table", {"SCHEMA LIKE": "table_schema", "LIKE": "table_name"}),
    "COLUMNS": _Listing(
        _COLUMNS,
        "table",
        {"SCHEMA LIKE": "table_schema", "TABLE LIKE": "table_name", "LIKE": "column_name"},
    ),
    "FUNCTIONS": _Listing(_FUNCTIONS, "routine", {"SCHEMA LIKE": "routine_schema", "LIKE": "routine_name"}),
}


@dataclass(frozen=True)
class ListCatalog(Command):
    """Lists objects of a catalog, or of all catalogs for None.

    Attributes:
        objects: TABLES, COLUMNS or FUNCTIONS.
        catalog: The catalog.
        patterns: The pattern of each column that has one, as SHOW statements write it.
    """

    objects: str
    catalog: str | None
    patterns: Mapping[str, str] = field(default_factory=dict)

    def run(self, spark: SparkSession) -> DataFrame:
        listing = _LISTINGS[self.objects]
        conditions = [f"rlike({column}, {_regex(pattern)})" for column, pattern in self.patterns.items()]
        if self.catalog is not None:
            catalog = current_context(spark).require_catalog(self.catalog)
            conditions.insert(0, f"{listing.prefix}_catalog = {quote_string(catalog)}")
        return spark.sql(listing.query.format(" AND ".join(conditions) or "true", **_EXPRESSIONS))


def _regex(pattern: str) -> str:
    """Return the literal of the regular expression of a pattern; without a valid part it matches nothing."""
    return quote_string(f"(?i)^(?:{'|'.join(regular_expressions(pattern)) or '(?!)'})$")


@dataclass(frozen=True)
class ListKeys(Command):
    """Lists the columns of a table's primary key, or of its foreign keys."""

    table: list[str]
    type: str

    def run(self, spark: SparkSession) -> Rows:
        # Raises TABLE_OR_VIEW_NOT_FOUND.
        _ = spark.table(quote_name(self.table)).schema
        keys = [key for key in stored_keys(spark, self.table) if key.type == self.type]
        own = "catalogName STRING, namespace STRING, tableName STRING, col_name STRING, keySeq BIGINT"
        rows: list[list[Any]] = []
        if self.type == "PRIMARY KEY":
            for key in keys:
                rows += [[*self.table, column, at, key.name] for at, column in enumerate(key.columns, 1)]
            return Rows(f"{own}, constraintName STRING", rows)
        for key in keys:
            parents: list[str | None] = [*key.parent_columns] or [None] * len(key.columns)
            for at, (column, parent) in enumerate(zip(key.columns, parents, strict=True), 1):
                rules = [_NO_ACTION, _NO_ACTION, key.name, _NOT_DEFERRABLE]
                rows.append([*(key.parent or ()), parent, *self.table, column, at, *rules])
        parent_columns = (
            "parentCatalogName STRING, parentNamespace STRING, parentTableName STRING, parentColName STRING"
        )
        rules_columns = "updateRule BIGINT, deleteRule BIGINT, constraintName STRING, deferrability BIGINT"
        return Rows(f"{parent_columns}, {own}, {rules_columns}", rows)


def _show_catalog(cursor: TokenCursor) -> ListCatalog:
    """Parse SHOW TABLES, COLUMNS or FUNCTIONS IN CATALOG c or IN ALL CATALOGS, and its patterns."""
    cursor.need("SHOW")
    objects = cursor.one_of(*_LISTINGS)
    cursor.need("IN")
    catalog = None
    if not cursor.words("ALL", "CATALOGS"):
        cursor.need("CATALOG")
        catalog = cursor.part()
    patterns = {}
    for words, column in _LISTINGS[objects].patterns.items():
        if cursor.words(*words.split()):
            patterns[column] = cursor.string()
    cursor.end()
    return ListCatalog(objects, catalog, patterns)


def _show_keys(cursor: TokenCursor) -> ListKeys:
    cursor.need("SHOW")
    kind = "FOREIGN KEY" if cursor.words("FOREIGN") else "PRIMARY KEY"
    cursor.need("KEYS")
    table = []
    for level in ("CATALOG", "SCHEMA", "TABLE"):
        cursor.need("IN", level)
        table.append(cursor.part())
    cursor.end()
    return ListKeys(table, kind)


CONSTRUCTS = in_area(
    "Catalogs and schemas",
    Construct(
        name="SHOW TABLES, COLUMNS, FUNCTIONS IN CATALOG",
        example="SHOW TABLES IN CATALOG main SCHEMA LIKE 'default' LIKE '*'",
        note="statements of drivers; also IN ALL CATALOGS",
        statement=_show_catalog,
        trigger=BEGINNING + r"show\s+(?:tables|columns|functions)\s+in\s+(?:catalog|all\s+catalogs)\b",
    ),
    Construct(
        name="SHOW KEYS, SHOW FOREIGN KEYS",
        example="SHOW KEYS IN CATALOG main IN SCHEMA default IN TABLE t",
        note="statements of drivers",
        statement=_show_keys,
        trigger=BEGINNING + r"show\s+(?:foreign\s+)?keys\b",
    ),
)
