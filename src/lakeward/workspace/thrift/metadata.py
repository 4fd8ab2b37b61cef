"""Requests for catalogs, schemas, tables, columns … as SQL, with the columns that JDBC defines.

Names are patterns: `%` is any text, `_` one character, a backslash escapes both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lakeward.quoting import quote_string
from lakeward.session import BUILT_IN_CATALOGS
from lakeward.sql import JDBC_FUNCTION_TYPE, JDBC_SPECIFIC_NAME, JDBC_TABLE_TYPE


class _Type(NamedTuple):
    """A type: its code in java.sql.Types, bytes, digits, and the radix of its precision."""

    code: int
    size: int | None = None
    digits: int | None = None
    radix: int | None = None


_TYPES = {
    "BOOLEAN": _Type(16, 1, 0),
    "TINYINT": _Type(-6, 1, 0, 10),
    "SMALLINT": _Type(5, 2, 0, 10),
    "INT": _Type(4, 4, 0, 10),
    "BIGINT": _Type(-5, 8, 0, 10),
    "FLOAT": _Type(6, 4, 7, 10),
    "DOUBLE": _Type(8, 8, 15, 10),
    "DECIMAL": _Type(3, radix=10),
    "STRING": _Type(12),
    "BINARY": _Type(-2),
    "DATE": _Type(91, 4),
    "TIMESTAMP": _Type(93, 8, 6),
    "TIMESTAMP_NTZ": _Type(93, 8, 6),
    "ARRAY": _Type(2003),
    "MAP": _Type(2000),
    "STRUCT": _Type(2002),
    "VOID": _Type(0),
}
_OTHER_TYPE = 1111


class Metadata(NamedTuple):
    """A request: its text in the history of queries, TOperationType, and the statement of a request."""

    title: str
    kind: int
    statement: Callable[[Any], str]


def _like(column: str, pattern: str | None) -> str:
    """Return the condition of a pattern, which may be missing."""
    return "true" if pattern is None else f"{column} LIKE {quote_string(pattern.lower())}"


def _name_like(prefix: str, catalog: str | None, schema: str | None, name: str | None) -> list[str]:
    """Return the conditions of the three parts of a name, in columns that begin with `prefix`."""
    parts = {"catalog": catalog, "schema": schema, "name": name}
    return [_like(f"{prefix}_{part}", pattern) for part, pattern in parts.items()]


def _where(*conditions: str) -> str:
    return f"WHERE {' AND '.join(conditions)}"


def _nulls(kind: str, *names: str) -> str:
    """Return columns that JDBC defines and nothing here fills.

    >>> _nulls("INT", "A", "B")
    'CAST(NULL AS INT) AS A, CAST(NULL AS INT) AS B'
    """
    return ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name in names)


def catalogs(_: object) -> str:
    """Return the statement for GetCatalogs."""
    built_in = ", ".join(f"({quote_string(name)})" for name in sorted(BUILT_IN_CATALOGS))
    return (
        "SELECT catalog_name AS TABLE_CAT FROM system.information_schema.catalogs "
        f"UNION SELECT * FROM VALUES {built_in} ORDER BY 1"
    )


def schemas(request: Any) -> str:
    """Return the statement for GetSchemas."""
    where = _where(_like("catalog_name", request.catalogName), _like("schema_name", request.schemaName))
    return (
        "SELECT schema_name AS TABLE_SCHEM, catalog_name AS TABLE_CATALOG "
        f"FROM system.information_schema.schemata {where} ORDER BY 2, 1"
    )


def tables(request: Any) -> str:
    """Return the statement for GetTables."""
    where = _where(
        *_name_like("table", request.catalogName, request.schemaName, request.tableName),
        _in(JDBC_TABLE_TYPE, request.tableTypes),
    )
    return (
        f"SELECT table_catalog AS TABLE_CAT, table_schema AS TABLE_SCHEM, table_name AS TABLE_NAME, "
        f"{JDBC_TABLE_TYPE} AS TABLE_TYPE, coalesce(comment, '') AS REMARKS, "
        f"{_nulls('STRING', 'TYPE_CAT', 'TYPE_SCHEM', 'TYPE_NAME')}, "
        f"{_nulls('STRING', 'SELF_REFERENCING_COL_NAME', 'REF_GENERATION')} "
        f"FROM system.information_schema.tables {where} ORDER BY 4, 1, 2, 3"
    )


def _in(expression: str, values: list[str] | None) -> str:
    if not values:
        return "true"
    return f"{expression} IN ({', '.join(quote_string(value.upper()) for value in values)})"


def columns(request: Any) -> str:
    """Return the statement for GetColumns."""
    where = _where(
        *_name_like("table", request.catalogName, request.schemaName, request.tableName),
        _like("lower(column_name)", request.columnName),
    )
    kind = "upper(regexp_extract(full_data_type, '^[A-Za-z_]+', 0))"
    decimal = "coalesce(numeric_precision, 10)"
    return (
        "SELECT table_catalog AS TABLE_CAT, table_schema AS TABLE_SCHEM, table_name AS TABLE_NAME, "
        f"column_name AS COLUMN_NAME, {_cases(kind, 'code', str(_OTHER_TYPE))} AS DATA_TYPE, "
        "upper(full_data_type) AS TYPE_NAME, "
        f"CASE WHEN {kind} = 'DECIMAL' THEN CAST(IF({decimal} > 18, 16, 8) AS INT) "
        f"ELSE {_cases(kind, 'size')} END AS COLUMN_SIZE, {_nulls('TINYINT', 'BUFFER_LENGTH')}, "
        f"CASE WHEN {kind} = 'DECIMAL' THEN CAST(numeric_scale AS INT) "
        f"ELSE {_cases(kind, 'digits')} END AS DECIMAL_DIGITS, "
        f"{_cases(kind, 'radix')} AS NUM_PREC_RADIX, "
        "IF(is_nullable = 'NO', 0, 1) AS NULLABLE, coalesce(comment, '') AS REMARKS, "
        "column_default AS COLUMN_DEF, "
        f"{_nulls('INT', 'SQL_DATA_TYPE', 'SQL_DATETIME_SUB', 'CHAR_OCTET_LENGTH')}, "
        "CAST(ordinal_position - 1 AS INT) AS ORDINAL_POSITION, is_nullable AS IS_NULLABLE, "
        f"{_nulls('STRING', 'SCOPE_CATALOG', 'SCOPE_SCHEMA', 'SCOPE_TABLE')}, "
        f"{_nulls('SMALLINT', 'SOURCE_DATA_TYPE')}, "
        "'NO' AS IS_AUTO_INCREMENT "
        f"FROM system.information_schema.columns {where} ORDER BY 1, 2, 3, 17"
    )


def _cases(name: str, field: str, otherwise: str = "NULL") -> str:
    """Return the expression with the field of the type of this name."""
    numbers = {each: getattr(of, field) for each, of in _TYPES.items()}
    cases = " ".join(f"WHEN '{each}' THEN {number}" for each, number in numbers.items() if number is not None)
    return f"CASE {name} {cases} ELSE {otherwise} END"


def _literal(number: int | None) -> str:
    return "NULL" if number is None else str(number)


def functions(request: Any) -> str:
    """Return the statement for GetFunctions."""
    where = _where(
        *_name_like("routine", request.catalogName, request.schemaName, request.functionName),
    )
    return (
        "SELECT routine_catalog AS FUNCTION_CAT, routine_schema AS FUNCTION_SCHEM, "
        "routine_name AS FUNCTION_NAME, coalesce(comment, '') AS REMARKS, "
        f"{JDBC_FUNCTION_TYPE} AS FUNCTION_TYPE, {JDBC_SPECIFIC_NAME} AS SPECIFIC_NAME "
        f"FROM system.information_schema.routines {where} ORDER BY 1, 2, 3"
    )


def table_types(_: object) -> str:
    """Return the statement for GetTableTypes."""
    return "SELECT * FROM VALUES ('TABLE'), ('VIEW') AS (TABLE_TYPE)"


def type_info(_: object) -> str:
    """Return the statement for GetTypeInfo."""
    rows = ", ".join(
        f"('{name}', {of.code}, {_literal(of.digits)}, {_literal(of.radix)}, "
        f"{'true' if name == 'STRING' else 'false'}, "
        f"{0 if name in ('ARRAY', 'MAP', 'STRUCT', 'VOID') else 3})"
        for name, of in _TYPES.items()
    )
    return (
        "SELECT name AS TYPE_NAME, code AS DATA_TYPE, CAST(digits AS INT) AS PRECISION, "
        f"{_nulls('STRING', 'LITERAL_PREFIX', 'LITERAL_SUFFIX', 'CREATE_PARAMS')}, "
        "CAST(1 AS SMALLINT) AS NULLABLE, "
        "sensitive AS CASE_SENSITIVE, CAST(searchable AS SMALLINT) AS SEARCHABLE, "
        "radix IS NULL AS UNSIGNED_ATTRIBUTE, false AS FIXED_PREC_SCALE, false AS AUTO_INCREMENT, "
        f"{_nulls('STRING', 'LOCAL_TYPE_NAME')}, CAST(0 AS SMALLINT) AS MINIMUM_SCALE, "
        "CAST(0 AS SMALLINT) AS MAXIMUM_SCALE, "
        f"{_nulls('INT', 'SQL_DATA_TYPE', 'SQL_DATETIME_SUB')}, CAST(radix AS INT) AS NUM_PREC_RADIX "
        f"FROM VALUES {rows} AS (name, code, digits, radix, sensitive, searchable)"
    )


def primary_keys(request: Any) -> str:
    """Return the statement for GetPrimaryKeys."""
    where = _where(
        "t.constraint_type = 'PRIMARY KEY'",
        *_name_like("k.table", request.catalogName, request.schemaName, request.tableName),
    )
    return (
        "SELECT k.table_catalog AS TABLE_CAT, k.table_schema AS TABLE_SCHEM, k.table_name AS TABLE_NAME, "
        "k.column_name AS COLUMN_NAME, CAST(k.ordinal_position AS SMALLINT) AS KEY_SEQ, "
        "k.constraint_name AS PK_NAME "
        "FROM system.information_schema.key_column_usage k "
        "JOIN system.information_schema.table_constraints t "
        f"USING (constraint_catalog, constraint_schema, constraint_name) {where} ORDER BY 4"
    )


def cross_reference(request: Any) -> str:
    """Return the statement for GetCrossReference: foreign keys, and the primary keys that they refer to."""
    where = _where(
        *_name_like("p.table", request.parentCatalogName, request.parentSchemaName, request.parentTableName),
        *_name_like(
            "f.table", request.foreignCatalogName, request.foreignSchemaName, request.foreignTableName
        ),
    )
    return (
        "SELECT p.table_catalog AS PKTABLE_CAT, p.table_schema AS PKTABLE_SCHEM, "
        "p.table_name AS PKTABLE_NAME, p.column_name AS PKCOLUMN_NAME, f.table_catalog AS FKTABLE_CAT, "
        "f.table_schema AS FKTABLE_SCHEM, f.table_name AS FKTABLE_NAME, f.column_name AS FKCOLUMN_NAME, "
        "CAST(f.ordinal_position AS SMALLINT) AS KEY_SEQ, CAST(3 AS SMALLINT) AS UPDATE_RULE, "
        "CAST(3 AS SMALLINT) AS DELETE_RULE, f.constraint_name AS FK_NAME, p.constraint_name AS PK_NAME, "
        "CAST(7 AS SMALLINT) AS DEFERRABILITY "
        "FROM system.information_schema.referential_constraints r "
        "JOIN system.information_schema.key_column_usage f ON f.constraint_catalog = r.constraint_catalog "
        "AND f.constraint_schema = r.constraint_schema AND f.constraint_name = r.constraint_name "
        "JOIN system.information_schema.key_column_usage p "
        "ON p.constraint_catalog = r.unique_constraint_catalog "
        "AND p.constraint_schema = r.unique_constraint_schema "
        "AND p.constraint_name = r.unique_constraint_name "
        f"AND p.ordinal_position = f.position_in_unique_constraint {where} ORDER BY 5, 6, 7, 9"
    )


METADATA = {
    "GetTypeInfo": Metadata("Listing type info", 1, type_info),
    "GetCatalogs": Metadata("Listing catalogs", 2, catalogs),
    "GetSchemas": Metadata("Listing databases", 3, schemas),
    "GetTables": Metadata("Listing tables", 4, tables),
    "GetTableTypes": Metadata("Listing table types", 5, table_types),
    "GetColumns": Metadata("Listing columns", 6, columns),
    "GetFunctions": Metadata("Listing functions", 7, functions),
    "GetPrimaryKeys": Metadata("Listing primary keys", 8, primary_keys),
    "GetCrossReference": Metadata("Listing foreign keys", 8, cross_reference),
}
"""The methods that a statement answers."""
