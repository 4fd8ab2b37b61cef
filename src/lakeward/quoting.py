"""Quote identifiers and string literals for Spark SQL.

Every package that builds SQL text uses these functions. They accept any string, including names with
backticks, dots, blanks and quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def quote_identifier(name: str) -> str:
    """Quote one part of a name, or a column, with backticks.

    >>> quote_identifier("a`b.c")
    '`a``b.c`'
    """
    return f"`{name.replace('`', '``')}`"


def quote_if_needed(name: str) -> str:
    """Quote one part of a name unless it is a plain identifier: ASCII letters, digits and underscores.

    >>> quote_if_needed("id"), quote_if_needed("my table")
    ('id', '`my table`')
    """
    return name if name.isidentifier() and name.isascii() else quote_identifier(name)


def quote_name(parts: Iterable[str]) -> str:
    """Quote a multi-part name.

    >>> quote_name(("main", "default", "my table"))
    '`main`.`default`.`my table`'
    """
    return ".".join(quote_identifier(part) for part in parts)


def use_statement(schema: Sequence[str]) -> str:
    """Return the statement that makes a catalog, or a schema with its catalog, the current one.

    >>> use_statement(["main"]), use_statement(["main", "default"])
    ('USE CATALOG `main`', 'USE SCHEMA `main`.`default`')
    """
    return f"USE {'SCHEMA' if len(schema) > 1 else 'CATALOG'} {quote_name(schema)}"


_FILE_FORMATS = frozenset(("avro", "binaryfile", "csv", "delta", "json", "orc", "parquet", "text", "xml"))


def names_path(parts: Sequence[str]) -> bool:
    """Return whether a name is that of a format and a path; no table has a period in its own name.

    >>> names_path(["delta", "/data/t"]), names_path(["parquet", "t.parquet"]), names_path(["main", "t"])
    (True, True, False)
    """
    if len(parts) != 2:
        return False
    return "/" in parts[1] or ("." in parts[1] and parts[0].lower() in _FILE_FORMATS)


def quote_string(value: str) -> str:
    r"""Quote a string literal; backslashes and single quotes are escaped.

    >>> print(quote_string("it's a \\"))
    'it\'s a \\'
    """
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quote_properties(properties: Mapping[str, str], separator: str = ", ") -> str:
    """Quote keys and values as TBLPROPERTIES takes them.

    >>> quote_properties({"delta.appendOnly": "true", "owner": "ann"})
    "'delta.appendOnly' = 'true', 'owner' = 'ann'"
    """
    return separator.join(f"{quote_string(key)} = {quote_string(value)}" for key, value in properties.items())


def is_placeholder(name: str) -> bool:
    """Return whether `name` has a variable that nothing has replaced, such as `${catalog}`.

    >>> [is_placeholder(name) for name in ("${catalog}", "{{ env }}_raw", "<your_catalog>", "main.`a b`")]
    [True, True, True, False]
    """
    return re.search(r"[{}<>]", name) is not None
