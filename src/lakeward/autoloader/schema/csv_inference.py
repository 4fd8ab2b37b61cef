"""Schema inference for CSV (AL-2.2): names in file order, strings or Spark's types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_type
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
)

from lakeward.autoloader.conversion.text_columns import cast_text_column, has_only_characters, parse_column
from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.type_merging import add_column, infer_text_type, merge_types
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.csv_dialect import CsvDialect, has_header, header_names, split_lines
from lakeward.autoloader.readers.csv_fast_path import is_regular_dialect, parse_text_columns

# Larger whole numbers are decimals.
_LONGS_END = float(1 << 63)
_NUMERALS = b"0123456789-.eE"


def infer_column_type(
    column: pa.ChunkedArray, formats: TextFormats, type_of: Callable[[str], DataType]
) -> DataType | None:
    """Return the type of all texts, None if they must be checked one by one. Nulls are ignored.

    `type_of` returns the narrowest type of one text.
    """
    texts = column.drop_null().combine_chunks()
    if not len(texts):
        return NullType()
    first = type_of(texts[0].as_py())
    if isinstance(first, StringType):
        return first
    if isinstance(first, DecimalType):
        return None
    # A column that starts with integers may continue with wider numbers.
    wider = [LongType(), DoubleType()] if isinstance(first, IntegerType) else []
    return next((dtype for dtype in (first, *wider) if _all_match_type(dtype, texts, formats)), None)


def _all_match_type(dtype: DataType, texts: pa.StringArray, formats: TextFormats) -> bool:
    if isinstance(dtype, DoubleType) and not has_only_characters(texts, _NUMERALS):
        return False
    values = cast_text_column(texts, dtype, to_arrow_type(dtype, timezone="UTC"), formats)
    if values is None:
        return False
    return not isinstance(dtype, DoubleType) or pc.max(pc.abs(values)).as_py() < _LONGS_END


class CsvInference:
    """Infers the schema over several files: the union of their headers (AL-1.5 mergeSchema)."""

    def __init__(self, options: Options) -> None:
        self._typed = options.infer_types
        self._prefer_date = options.flag("preferDate")
        self._dialect = CsvDialect.of(options)
        self._formats = TextFormats.of(options, options.text("timeZone") or "UTC")
        self._header = has_header(options.text("header"), has_user_schema=False)
        self._is_plain = self._typed and self._header and is_regular_dialect(self._dialect)
        self._columns: dict[str, DataType] = {}

    def add(self, data: bytes) -> None:
        """Add the decompressed content of a file."""
        if not (self._is_plain and self._add_whole(data)):
            self._add_rows(data)

    def _add_whole(self, data: bytes) -> bool:
        """Add a large regular file with Arrow; return whether that was possible."""
        parsed = parse_text_columns(data, self._dialect)
        if parsed is None:
            return False
        first, table = parsed
        types = [
            infer_column_type(column, self._formats, self._type_of) or self._type(column.to_pylist())
            for column in table.columns
        ]
        self._add_types(header_names(self._dialect.row(first)), types)
        return True

    def _add_rows(self, data: bytes) -> None:
        lines = split_lines(data, self._dialect)
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
        for name, dtype in zip(names, types, strict=True):
            add_column(self._columns, name, dtype)

    def schema(self) -> StructType:
        """Return columns in order of appearance; a column without values is a string."""
        return StructType(
            [
                StructField(name, StringType() if isinstance(dtype, NullType) else dtype)
                for name, dtype in self._columns.items()
            ]
        )

    def _type_of(self, text: str) -> DataType:
        return infer_text_type(text, self._formats, prefer_date=self._prefer_date)

    def _type(self, column: list[str | None]) -> DataType:
        from pyspark.sql.pandas.types import to_arrow_type

        merged: DataType = NullType()
        for index, text in enumerate(column):
            if text is None:
                continue
            merged = merge_types(merged, self._type_of(text))
            if isinstance(merged, StringType):
                return merged
            if index == 0 and not isinstance(merged, (BooleanType, DecimalType)):
                # Most columns have a single type: check the whole column at once.
                arrow_type = to_arrow_type(merged, timezone="UTC")
                if (
                    not isinstance(merged, DateType)
                    and not parse_column(column, merged, arrow_type, self._formats)[1]
                ):
                    return merged
        return merged
