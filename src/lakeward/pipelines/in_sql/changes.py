"""The clauses of AUTO CDC, in whatever order (spec §3.4.7)."""

from __future__ import annotations

from typing import Any

from lakeward.pipelines.in_sql.reading import Reader, plain
from lakeward.pipelines.in_sql.statement import Changes
from lakeward.sql import Unmatched

__all__ = ["Expression", "read_changes"]

_CLAUSES = (
    *("KEYS", "IGNORE NULL UPDATES", "APPLY AS DELETE WHEN", "APPLY AS TRUNCATE WHEN", "SEQUENCE BY"),
    *("SYSTEM SEQUENCE BY", "COLUMNS", "STORED AS", "TRACK HISTORY ON", "WHERE"),
)


class Expression(str):
    """SQL of the user's where the Python API takes a column's name as well."""

    __slots__ = ()


def read_changes(reader: Reader, target: str, *, once: bool = False) -> Changes:
    """FROM … KEYS (…) and the rest of the statement. Raises Unmatched."""
    reader.need("FROM")
    from_snapshot = reader.words("SNAPSHOT")
    source = reader.until(*_CLAUSES, "WITH VERSION")
    arguments: dict[str, Any] = {}
    if reader.words("WITH", "VERSION"):
        arguments["version"] = reader.until(*_CLAUSES)
    while reader.next is not None:
        _clause(reader, arguments)
    name = plain(source)
    return Changes(target, name or source, name is not None, from_snapshot, once, arguments)


def _clause(reader: Reader, into: dict[str, Any]) -> None:
    if reader.words("KEYS"):
        into["keys"] = reader.names()
    elif reader.words("IGNORE", "NULL", "UPDATES"):
        into["ignore_null_updates"] = True
        if reader.words("ON"):
            _columns(
                reader, into, "ignore_null_updates_column_list", "ignore_null_updates_except_column_list"
            )
    elif reader.words("APPLY", "AS", "DELETE", "WHEN"):
        into["apply_as_deletes"] = reader.until(*_CLAUSES)
    elif reader.words("APPLY", "AS", "TRUNCATE", "WHEN"):
        into["apply_as_truncates"] = reader.until(*_CLAUSES)
    elif reader.words("SEQUENCE", "BY"):
        into["sequence_by"] = _expression(reader.until(*_CLAUSES))
    elif reader.words("SYSTEM", "SEQUENCE", "BY"):
        into["system_sequence_by"] = _expression(reader.until(*_CLAUSES))
    elif reader.words("COLUMNS", "TO", "UPDATE"):
        into["columns_to_update"] = _expression(reader.until(*_CLAUSES))
    elif reader.words("COLUMNS"):
        _columns(reader, into, "column_list", "except_column_list")
    elif reader.words("STORED", "AS"):
        into["stored_as_scd_type"] = _scd_type(reader)
    elif reader.words("TRACK", "HISTORY", "ON"):
        _columns(reader, into, "track_history_column_list", "track_history_except_column_list")
    else:
        raise Unmatched


def _scd_type(reader: Reader) -> int | str:
    if reader.words("BITEMPORAL"):
        return "bitemporal"
    reader.need("SCD", "TYPE")
    return reader.integer()


def _columns(reader: Reader, into: dict[str, Any], listed: str, excepted: str) -> None:
    if reader.words("*"):
        reader.need("EXCEPT")
        into[excepted] = reader.names()
    else:
        into[listed] = reader.names()


def _expression(text: str) -> str:
    return plain(text) or Expression(text)
