"""Columns of files whose schema the format, or one option, fixes (auto-loader.md §1.5)."""

from __future__ import annotations

from pyspark.sql.types import (
    BinaryType,
    LongType,
    StringType,
    StructType,
    TimestampType,
    VariantType,
)

from lakeward.autoloader.options import Options

__all__ = ["fixed_schema"]


def fixed_schema(options: Options) -> StructType:
    """The data columns of text, binaryFile, and of records that are one VARIANT each."""
    variant = options.text("singleVariantColumn")
    if variant:
        return StructType().add(variant, VariantType())
    if options.format == "text":
        return StructType().add("value", StringType())
    columns = StructType().add("path", StringType()).add("modificationTime", TimestampType())
    return columns.add("length", LongType()).add("content", BinaryType())
