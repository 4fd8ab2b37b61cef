"""Columns of results: how the manifest describes them, and how values of each type are written.

Values are strings, NULL is null. Values within an ARRAY, MAP or STRUCT are strings, too, in JSON:

    INT    1            TIMESTAMP  2026-01-02T03:04:05.000Z
    ARRAY  ["1","2"]    BINARY     base64
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from lakeward.databricks_shims.local_workspace import type_name
from lakeward.spark_internals import frame_from_java, java_frame, jvm_view
from lakeward.sql import type_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakeward.workspace.state.store import Document

_TIMESTAMP = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"
_TIMESTAMP_NTZ = "yyyy-MM-dd'T'HH:mm:ss.SSS"
_JSON = {"ignoreNullFields": "false", "timestampFormat": _TIMESTAMP, "timestampNTZFormat": _TIMESTAMP_NTZ}
_GEOSPATIAL = (T.GeometryType, T.GeographyType)
_INTERVALS = (T.DayTimeIntervalType, T.YearMonthIntervalType, T.CalendarIntervalType)


def describe(schema: T.StructType, native_intervals: bool = False) -> list[Document]:
    """Return the `columns` of a manifest's schema; `native_intervals` as in `as_arrow`.

    PySpark does not write intervals of years and months to Arrow: clients that read intervals from Arrow get
    strings.
    """
    columns = [_column(position, field) for position, field in enumerate(schema.fields)]
    if native_intervals:
        for column, field in zip(columns, schema.fields, strict=True):
            if isinstance(field.dataType, T.YearMonthIntervalType):
                column |= {"type_text": "STRING", "type_name": "STRING"}
                del column["type_interval_type"]
    return columns


def _column(position: int, field: T.StructField) -> Document:
    kind = field.dataType
    column: Document = {
        "name": field.name,
        "type_text": type_text(kind),
        "type_name": type_name(kind.simpleString()),
        "position": position,
    }
    if isinstance(kind, T.DecimalType):
        column |= {"type_precision": kind.precision, "type_scale": kind.scale}
    if isinstance(kind, _INTERVALS):
        column["type_interval_type"] = type_text(kind).removeprefix("INTERVAL ")
    return column


def as_text(frame: DataFrame) -> DataFrame:
    """Return all values as the strings that JSON_ARRAY and CSV contain, in columns `c0`, `c1` …."""
    return _converted(frame, [_text(field.dataType) for field in frame.schema.fields])


def as_arrow(frame: DataFrame, text_types: Collection[str], native_intervals: bool) -> DataFrame:
    """Return all values in types of Arrow, in columns `c0`, `c1` …; strings where Arrow has none.

    Args:
        frame: The result.
        text_types: Names of `TEXT_TYPES` whose values are strings, too, as SQL and JSON write them.
        native_intervals: Whether intervals of days are durations; else all are texts as Hive writes them.
    """
    kinds = [field.dataType for field in frame.schema.fields]
    return _converted(frame, [_arrow(kind, text_types, native_intervals) for kind in kinds])


TEXT_TYPES: Mapping[str, tuple[type[T.DataType], ...]] = {
    "date": (T.DateType,),
    "decimal": (T.DecimalType,),
    "nested": (T.StructType, T.ArrayType, T.MapType),
    "timestamp": (T.TimestampType, T.TimestampNTZType),
}
"""Types that clients read from Arrow only if they request it."""


def _arrow(kind: T.DataType, text_types: Collection[str], native_intervals: bool) -> tuple[str, ...]:
    if isinstance(kind, _INTERVALS):
        return _interval(kind, native_intervals)
    if isinstance(kind, (*_GEOSPATIAL, T.VariantType)):
        return _text(kind)
    if not any(isinstance(kind, TEXT_TYPES[name]) for name in text_types):
        return ()
    if isinstance(kind, TEXT_TYPES["nested"]):
        return ("to_json", "", "ignoreNullFields", "false")
    return ("string",)


def _interval(kind: T.DataType, native: bool) -> tuple[str, ...]:
    if isinstance(kind, T.CalendarIntervalType):
        return ("string",)
    if isinstance(kind, T.YearMonthIntervalType):
        return ("year_month",)
    return () if native else ("day_time",)


def _converted(frame: DataFrame, conversions: list[tuple[str, ...]]) -> DataFrame:
    """Return the frame with unique names (results may have several of one name) and converted columns."""
    if not conversions:
        return frame
    spark = frame.sparkSession
    jvm: Any = jvm_view(spark)
    lines = "\n".join(map("\t".join, conversions))
    return frame_from_java(jvm.lakeward.ResultColumns.select(java_frame(frame), lines), spark)


def _text(kind: T.DataType) -> tuple[str, ...]:
    """Return the conversion to text, as the Java class `ResultColumns` reads it."""
    if isinstance(kind, T.TimestampType):
        return ("date_format", _TIMESTAMP)
    if isinstance(kind, T.TimestampNTZType):
        return ("date_format", _TIMESTAMP_NTZ)
    if isinstance(kind, T.BinaryType):
        return ("base64",)
    if isinstance(kind, T.VariantType):
        return ("to_json", "")
    if isinstance(kind, _GEOSPATIAL):
        return ("st_asewkt",)
    if isinstance(kind, (T.StructType, T.ArrayType, T.MapType)):
        options = (part for option in _JSON.items() for part in option)
        return ("to_json", _of_strings(kind).json(), *options)
    return ("string",)


def _of_strings(kind: T.DataType) -> T.DataType:
    """Return the type with strings for its scalars, except for those that JSON writes as strings itself."""
    if isinstance(kind, T.StructType):
        return T.StructType([T.StructField(f.name, _of_strings(f.dataType), f.nullable) for f in kind.fields])
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(_of_strings(kind.elementType), kind.containsNull)
    if isinstance(kind, T.MapType):
        return T.MapType(T.StringType(), _of_strings(kind.valueType), kind.valueContainsNull)
    as_they_are = (T.TimestampType, T.TimestampNTZType, T.DateType, T.BinaryType, T.VariantType)
    return kind if isinstance(kind, as_they_are) else T.StringType()
