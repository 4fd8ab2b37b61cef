"""Nested types whose fields are matched by name: a cast of Spark goes by their positions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lakeward.quoting import quote_identifier

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

_SPECIAL_NAME = re.compile(r'"name":"[^"]*[ ,;{}()\\=]')


def needs_column_mapping(schema: StructType) -> bool:
    """Return whether names of columns or fields have characters that Delta takes with column mapping alone.

    Source: the error DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES of Delta, which lists them.
    """
    return _SPECIAL_NAME.search(schema.json()) is not None


def cast_by_name(value: Column, given: DataType, wanted: DataType) -> Column:
    """Cast a value of the type `given`. Fields that it lacks are NULL; for others Spark refuses the cast."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType

    if given.simpleString() == wanted.simpleString():
        return value  # Spark does not cast to fields that are NOT NULL.
    if "struct<" not in given.simpleString():
        return value.cast(wanted)
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        has = {field.name.lower(): field for field in given.fields}
        fields = []
        for field in wanted.fields:
            own = has.pop(field.name.lower(), None)
            cell = (
                F.lit(None).cast(field.dataType)
                if own is None
                else cast_by_name(value.getField(own.name), own.dataType, field.dataType)
            )
            fields.append(cell.alias(field.name))
        others = [value.getField(name).alias(name) for name in has]
        row = F.when(value.isNotNull(), F.struct(*fields, *others))
        return row.cast(wanted) if others else row
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return F.transform(value, lambda each: cast_by_name(each, given.elementType, wanted.elementType))
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        value = F.transform_values(
            value, lambda _, each: cast_by_name(each, given.valueType, wanted.valueType)
        )
    return value.cast(wanted)


def with_new_fields(rows: DataFrame, schema: StructType) -> DataFrame:
    """Return the rows, with NULL for the nested fields that only `schema` has."""
    from pyspark.sql import functions as F

    grown = {
        field.name: cast_by_name(
            F.col(quote_identifier(field.name)), field.dataType, schema[field.name].dataType
        )
        for field in rows.schema.fields
        if field.dataType != schema[field.name].dataType
    }
    return rows.withColumns(grown) if grown else rows


def ordered_as(given: DataType, wanted: DataType) -> DataType | None:
    """Return the type `given` with fields in the order of `wanted`; None if a struct has other fields."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    if isinstance(given, StructType) and isinstance(wanted, StructType):
        has = {field.name.lower(): field for field in given.fields}
        if has.keys() != {field.name.lower() for field in wanted.fields}:
            return None
        fields = []
        for field in wanted.fields:
            own = has[field.name.lower()]
            inner = ordered_as(own.dataType, field.dataType)
            if inner is None:
                return None
            fields.append(StructField(own.name, inner, own.nullable))
        return StructType(fields)
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        inner = ordered_as(given.elementType, wanted.elementType)
        return None if inner is None else ArrayType(inner, given.containsNull)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        inner = ordered_as(given.valueType, wanted.valueType)
        return None if inner is None else MapType(given.keyType, inner, given.valueContainsNull)
    return given
