"""Types of columns as the APIs of Unity Catalog and of SQL warehouses write them. No Spark."""

from __future__ import annotations

import re
from typing import Any

_SQL_NAMES = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}
_TYPE_NAMES = {
    "INTEGER": "INT",
    "BIGINT": "LONG",
    "TINYINT": "BYTE",
    "SMALLINT": "SHORT",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "VARCHAR": "STRING",
    "VOID": "NULL",
}
_FIRST_WORD = re.compile(r"\w*")


def type_name(text: str) -> str:
    """Return the ColumnTypeName of the API for a type as SQL.

    >>> type_name("decimal(5,2)"), type_name("bigint"), type_name("interval day to second")
    ('DECIMAL', 'LONG', 'INTERVAL')
    """
    found = _FIRST_WORD.match(text.strip().upper())
    name = found[0] if found else ""
    return _TYPE_NAMES.get(name, name)


def stored_type_text(kind: Any) -> str:
    """Return a type of Spark's JSON form as SQL, like `DataType.simpleString()`.

    >>> stored_type_text({"type": "array", "elementType": "integer", "containsNull": True})
    'array<int>'
    """
    if isinstance(kind, str):
        return _SQL_NAMES.get(kind, kind)
    if not isinstance(kind, dict):
        return "void"
    if kind.get("type") == "array":
        return f"array<{stored_type_text(kind.get('elementType'))}>"
    if kind.get("type") == "map":
        return f"map<{stored_type_text(kind.get('keyType'))},{stored_type_text(kind.get('valueType'))}>"
    if kind.get("type") == "struct":
        fields = kind.get("fields") or ()
        inner = ",".join(f"{each.get('name')}:{stored_type_text(each.get('type'))}" for each in fields)
        return f"struct<{inner}>"
    return stored_type_text(kind.get("sqlType"))
