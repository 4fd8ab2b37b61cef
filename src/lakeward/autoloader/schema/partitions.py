"""Partition columns of a source (auto-loader.md §5.2): which, and of what type."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.types import (
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from lakeward.autoloader.discovery import partition_values
from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.times import parse_date
from lakeward.autoloader.schema.merge import inferred

__all__ = ["partition_schema"]


def partition_schema(below: Sequence[str], options: Options, given: StructType | None) -> StructType:
    """The partition columns of files whose paths below the source are `below`.

    With a given schema, those of its columns that are keys of the paths. Layouts that disagree have none.
    """
    wanted = options.value("cloudFiles.partitionColumns")
    values = [partition_values(path) for path in below]
    if wanted is not None:
        names = list(wanted)
    elif options.flag("recursiveFileLookup"):
        names = []
    else:
        layouts = {tuple(found) for found in values}
        names = list(layouts.pop()) if len(layouts) == 1 else []
    if given is not None:
        return StructType([field for field in given.fields if field.name in names])
    return StructType([StructField(name, _type([v.get(name) for v in values])) for name in names])


def _type(texts: Sequence[str | None]) -> DataType:
    merged: DataType | None = None
    for text in texts:
        if text is not None:
            found = _single(text)
            merged = found if merged is None else inferred(merged, found)
    return merged or StringType()


def _single(text: str) -> DataType:
    if text.lstrip("-").isdigit() and text.isascii():
        value = int(text)
        if -(1 << 31) <= value < 1 << 31:
            return IntegerType()
        return LongType() if -(1 << 63) <= value < 1 << 63 else StringType()
    if len(text) == 10 and parse_date(text) is not None:
        return DateType()
    try:
        if "_" not in text and any(char.isdigit() for char in text):
            float(text)
            return DoubleType()
    except ValueError:
        pass
    return StringType()
