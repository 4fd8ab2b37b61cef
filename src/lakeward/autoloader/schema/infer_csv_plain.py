"""The type of a CSV column from all of its texts at once, where they are of one form."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, DecimalType, DoubleType, IntegerType, LongType, NullType, StringType

from lakeward.autoloader.readers.convert import Formats
from lakeward.autoloader.readers.forms import only_of
from lakeward.autoloader.readers.whole_columns import whole_column

__all__ = ["plain_type"]

# A whole number from here on is a decimal.
_LONGS_END = float(1 << 63)
_NUMERALS = b"0123456789-.eE"


def plain_type(
    column: pa.ChunkedArray, formats: Formats, type_of: Callable[[str], DataType]
) -> DataType | None:
    """The type of the texts, whose nulls say nothing; None where they have to be looked at one by one.

    `type_of` gives the narrowest type of one text.
    """
    texts = column.drop_null().combine_chunks()
    if not len(texts):
        return NullType()
    first = type_of(texts[0].as_py())
    if isinstance(first, StringType):
        return first
    if isinstance(first, DecimalType):
        return None
    # A column that begins with whole numbers often goes on with others.
    wider = [LongType(), DoubleType()] if isinstance(first, IntegerType) else []
    return next((dtype for dtype in (first, *wider) if _holds(dtype, texts, formats)), None)


def _holds(dtype: DataType, texts: pa.StringArray, formats: Formats) -> bool:
    if isinstance(dtype, DoubleType) and not only_of(texts, _NUMERALS):
        return False
    values = whole_column(texts, dtype, to_arrow_type(dtype, timezone="UTC"), formats)
    if values is None:
        return False
    return not isinstance(dtype, DoubleType) or pc.max(pc.abs(values)).as_py() < _LONGS_END
