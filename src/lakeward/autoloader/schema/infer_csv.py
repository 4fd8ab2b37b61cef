"""The schema of CSV files (auto-loader.md §2.2): names in file order, strings or Spark's types."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.convert import Formats, from_texts, parser_of
from lakeward.autoloader.readers.csv import has_header
from lakeward.autoloader.readers.csv_lines import Dialect, header_names, lines_of
from lakeward.autoloader.readers.csv_plain import is_plain, plain_columns
from lakeward.autoloader.schema.infer_csv_plain import plain_type
from lakeward.autoloader.schema.merge import add_column, inferred

__all__ = ["CsvInference", "type_of"]

_PLAIN = Formats.of(Options.of({"cloudFiles.format": "csv"}), "UTC")
_WHOLE = re.compile(r"[+-]?\d+")


def type_of(text: str, formats: Formats = _PLAIN, *, prefer_date: bool = True) -> DataType:
    """The narrowest type of one value, in Spark's order."""
    if _WHOLE.fullmatch(text) and text.isascii():
        value = int(text)
        if -(1 << 31) <= value < 1 << 31:
            return IntegerType()
        if -(1 << 63) <= value < 1 << 63:
            return LongType()
        digits = len(text.lstrip("+-"))
        return DecimalType(digits, 0) if digits <= 38 else DoubleType()
    candidates: list[DataType] = [
        DoubleType(),
        *([DateType()] if prefer_date else []),
        TimestampType(),
        BooleanType(),
    ]
    for dtype in candidates:
        if parser_of(dtype, formats)(text) is not None and _looks_like(dtype, text):
            return dtype
    return StringType()


def _looks_like(dtype: DataType, text: str) -> bool:
    """Dates in their strict form: a bare year is a number or a word, not a date."""
    if isinstance(dtype, DateType):
        return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None
    return not isinstance(dtype, TimestampType) or re.match(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:", text) is not None


class CsvInference:
    """Takes one file after the other; the union of their headers (§1.5 mergeSchema)."""

    def __init__(self, options: Options) -> None:
        self._typed = options.infer_types
        self._prefer_date = options.flag("preferDate")
        self._dialect = Dialect.of(options)
        self._formats = Formats.of(options, options.text("timeZone") or "UTC")
        self._header = has_header(options.text("header"), given_schema=False)
        self._is_plain = self._typed and self._header and is_plain(self._dialect)
        self._columns: dict[str, DataType] = {}

    def add(self, data: bytes) -> None:
        """A file's bytes, unpacked."""
        if not (self._is_plain and self._add_whole(data)):
            self._add_rows(data)

    def _add_whole(self, data: bytes) -> bool:
        """Whether this is a large file with nothing odd in it, which then has been taken."""
        found = plain_columns(data, self._dialect)
        if found is None:
            return False
        first, table = found
        types = [
            plain_type(column, self._formats, self._type_of) or self._type(column.to_pylist())
            for column in table.columns
        ]
        self._add_types(header_names(self._dialect.row(first)), types)
        return True

    def _add_rows(self, data: bytes) -> None:
        lines = lines_of(data, self._dialect)
        if not lines:
            return
        first = self._dialect.row(lines[0])
        names = header_names(first) if self._header else [f"_c{i}" for i in range(len(first))]
        rows = lines[1:] if self._header else lines
        columns: list[list[str | None]] = [[] for _ in names]
        if self._typed:
            for row in map(self._dialect.row, rows):
                for column, value in zip(columns, row, strict=False):
                    column.append(value)
        self._add_types(names, [self._type(column) if self._typed else StringType() for column in columns])

    def _add_types(self, names: Sequence[str], types: Sequence[DataType]) -> None:
        for name, found in zip(names, types, strict=True):
            add_column(self._columns, name, found)

    def schema(self) -> StructType:
        """Columns in the order in which they were met; a column without any value is a string."""
        return StructType(
            [
                StructField(name, StringType() if isinstance(dtype, NullType) else dtype)
                for name, dtype in self._columns.items()
            ]
        )

    def _type_of(self, text: str) -> DataType:
        return type_of(text, self._formats, prefer_date=self._prefer_date)

    def _type(self, column: list[str | None]) -> DataType:
        from pyspark.sql.pandas.types import to_arrow_type

        merged: DataType = NullType()
        for index, text in enumerate(column):
            if text is None:
                continue
            merged = inferred(merged, self._type_of(text))
            if isinstance(merged, StringType):
                return merged
            if index == 0 and not isinstance(merged, (BooleanType, DecimalType)):
                # Most columns are of one type throughout: ask once for all of it.
                arrow_type = to_arrow_type(merged, timezone="UTC")
                if (
                    not isinstance(merged, DateType)
                    and not from_texts(column, merged, arrow_type, self._formats)[1]
                ):
                    return merged
        return merged
