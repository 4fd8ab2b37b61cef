"""Columns of results: how the manifest describes them, and how values of each type are written.

Values are strings, NULL is null. Values within an ARRAY, MAP or STRUCT are strings, too, in JSON:

    INT    1            TIMESTAMP  2026-01-02T03:04:05.000Z
    ARRAY  ["1","2"]    BINARY     base64
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from lakeward.quoting import quote_identifier

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_TYPE_NAMES = {
    "INTEGER": "INT",
    "BIGINT": "LONG",
    "TINYINT": "BYTE",
    "SMALLINT": "SHORT",
    "VOID": "NULL",
    "VARCHAR": "STRING",
}
_TIMESTAMP = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"
_TIMESTAMP_NTZ = "yyyy-MM-dd'T'HH:mm:ss.SSS"
_JSON = {"ignoreNullFields": "false", "timestampFormat": _TIMESTAMP, "timestampNTZFormat": _TIMESTAMP_NTZ}
_INTERVALS = (T.DayTimeIntervalType, T.YearMonthIntervalType, T.CalendarIntervalType)


def describe(schema: T.StructType) -> list[dict[str, Any]]:
    """The `columns` of a manifest's schema."""
    return [_column(position, field) for position, field in enumerate(schema.fields)]


def _column(position: int, field: T.StructField) -> dict[str, Any]:
    kind = field.dataType
    name = str(kind.typeName()).partition("(")[0].upper()
    column: dict[str, Any] = {
        "name": field.name,
        "type_text": type_text(kind),
        "type_name": _TYPE_NAMES.get(name, name),
        "position": position,
    }
    if isinstance(kind, T.DecimalType):
        column |= {"type_precision": kind.precision, "type_scale": kind.scale}
    if isinstance(kind, _INTERVALS):
        column["type_name"] = "INTERVAL"
        column["type_interval_type"] = type_text(kind).removeprefix("INTERVAL ")
    return column


def type_text(kind: T.DataType) -> str:
    """A type as SQL writes it.

    >>> type_text(T.StructType([T.StructField("Ab", T.ArrayType(T.LongType()))]))
    'STRUCT<Ab: ARRAY<BIGINT>>'
    """
    if isinstance(kind, T.StructType):
        return f"STRUCT<{', '.join(map(_field_text, kind.fields))}>"
    if isinstance(kind, T.ArrayType):
        return f"ARRAY<{type_text(kind.elementType)}>"
    if isinstance(kind, T.MapType):
        return f"MAP<{type_text(kind.keyType)}, {type_text(kind.valueType)}>"
    return kind.simpleString().upper()


def _field_text(field: T.StructField) -> str:
    return f"{_quoted(field.name)}: {type_text(field.dataType)}{'' if field.nullable else ' NOT NULL'}"


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else quote_identifier(name)


def _numbered(frame: DataFrame) -> tuple[DataFrame, list[tuple[Column, T.DataType]]]:
    """The frame with unique names, and its columns: results may have several of the same name."""
    plain = frame.toDF(*(f"c{position}" for position in range(len(frame.schema.fields))))
    return plain, [(plain[field.name], field.dataType) for field in plain.schema.fields]


def as_text(frame: DataFrame) -> DataFrame:
    """All values as the strings that JSON_ARRAY and CSV contain."""
    plain, columns = _numbered(frame)
    return plain.select(*(_text(column, kind).alias(f"c{n}") for n, (column, kind) in enumerate(columns)))


def as_arrow(frame: DataFrame) -> DataFrame:
    """All values in types that Arrow has; intervals and variants are strings."""
    plain, columns = _numbered(frame)
    return plain.select(
        *(
            (_text(column, kind) if isinstance(kind, (*_INTERVALS, T.VariantType)) else column).alias(f"c{n}")
            for n, (column, kind) in enumerate(columns)
        )
    )


def _text(column: Column, kind: T.DataType) -> Column:
    if isinstance(kind, T.TimestampType):
        return F.date_format(column, _TIMESTAMP)
    if isinstance(kind, T.TimestampNTZType):
        return F.date_format(column, _TIMESTAMP_NTZ)
    if isinstance(kind, T.BinaryType):
        return F.base64(column)
    if isinstance(kind, T.VariantType):
        return F.to_json(column)
    if isinstance(kind, (T.StructType, T.ArrayType, T.MapType)):
        return F.to_json(column.cast(_of_strings(kind)), _JSON)
    return column.cast("string")


def _of_strings(kind: T.DataType) -> T.DataType:
    """The type with strings for its scalars, except for those that JSON writes as strings itself."""
    if isinstance(kind, T.StructType):
        return T.StructType([T.StructField(f.name, _of_strings(f.dataType), f.nullable) for f in kind.fields])
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(_of_strings(kind.elementType), kind.containsNull)
    if isinstance(kind, T.MapType):
        return T.MapType(T.StringType(), _of_strings(kind.valueType), kind.valueContainsNull)
    as_they_are = (T.TimestampType, T.TimestampNTZType, T.DateType, T.BinaryType, T.VariantType)
    return kind if isinstance(kind, as_they_are) else T.StringType()
