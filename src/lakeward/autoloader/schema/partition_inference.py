"""Partition columns of the paths of files, and their types (AL-5.2)."""

from __future__ import annotations

import re
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

from lakeward.autoloader.discovery.file_listing import parse_partition_values, partition_value
from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError


def infer_partition_schema(
    below: Sequence[str], options: Options, user_schema: StructType | None
) -> StructType:
    """Return the partition columns of files with these relative paths.

    With a user schema these are its columns that are partition keys, in any case of their names. Files with
    different layouts have none.
    """
    configured = options.value("cloudFiles.partitionColumns")
    if configured is not None:
        names = list(configured)
    elif options.flag("recursiveFileLookup"):
        names = []
    else:
        layouts = {tuple(parse_partition_values(path)) for path in below}
        names = list(layouts.pop()) if len(layouts) == 1 else []
    if user_schema is not None:
        known = {name.lower() for name in user_schema.names}
        if missing := [name for name in configured or () if name.lower() not in known]:
            raise CloudFilesError(
                "CF_MISSING_PARTITION_COLUMN_ERROR",
                f"Partition column {missing[0]} of cloudFiles.partitionColumns is not in the schema: "
                f"{', '.join(user_schema.names)}.",
                next_step="Add it to the schema, or remove it from cloudFiles.partitionColumns.",
            )
        in_paths = {name.lower() for name in names}
        return StructType([field for field in user_schema.fields if field.name.lower() in in_paths])
    return StructType(
        [
            StructField(name, _partition_type([partition_value(path, name) for path in below]))
            for name in names
        ]
    )


def _partition_type(texts: Sequence[str | None]) -> DataType:
    # Imports Arrow, which a stream with a stored schema starts without.
    from lakeward.autoloader.conversion.type_merging import merge_types

    merged: DataType | None = None
    for text in texts:
        if text is not None:
            dtype = _value_type(text)
            merged = dtype if merged is None else merge_types(merged, dtype)
    return merged or StringType()


def _value_type(text: str) -> DataType:
    from lakeward.autoloader.conversion.text_parsing import parse_date

    if re.fullmatch(r"-?[0-9]+", text):
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
