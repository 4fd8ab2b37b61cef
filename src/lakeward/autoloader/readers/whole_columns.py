"""Texts → typed Arrow columns by Arrow's own conversion, where it and Spark read every text alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.autoloader.readers.forms import one_form, only_of
from lakeward.autoloader.readers.times import zone_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from lakeward.autoloader.readers.convert import Formats

__all__ = ["whole_column"]

# Of texts in these characters, Arrow refuses what is no number or does not fit; elsewhere it takes blanks
# and hexadecimal numbers, and rounds nothing.
_NUMERALS = {
    **dict.fromkeys(("byte", "short", "integer", "long"), b"0123456789-"),
    **dict.fromkeys(("float", "double"), b"0123456789-+.eE"),
    "decimal": b"0123456789-.",
}
_CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?"
_MOMENT = _CLOCK + "(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])"


def whole_column(
    column: pa.StringArray, dtype: DataType, arrow_type: pa.DataType, formats: Formats
) -> pa.Array | None:
    """The typed column; None where a text has to be looked at by itself."""
    name = dtype.typeName()
    try:
        if name in ("string", "varchar", "char"):
            return column.cast(arrow_type)
        if name == "boolean":
            words = pc.utf8_lower(column)
            known = pc.or_(pc.is_in(words, pa.array(["true", "false"])), pc.is_null(words))
            return pc.equal(words, "true") if pc.all(known).as_py() is not False else None
        if name in _NUMERALS:
            return column.cast(arrow_type) if only_of(column, _NUMERALS[name]) else None
        if column.null_count == len(column):
            return pa.nulls(len(column), arrow_type)
        if name == "date" and formats.date is None:
            return column.cast(arrow_type) if one_form(column) == "0000-00-00" else None
        if name == "timestamp" and formats.timestamp is None:
            return _timestamps(column, arrow_type, formats)
    except pa.ArrowInvalid:
        return None
    return None


def _timestamps(column: pa.StringArray, arrow_type: pa.DataType, formats: Formats) -> pa.Array | None:
    if _all_match(column, _MOMENT):
        return column.cast(arrow_type)
    if formats.zone == zone_of("UTC") and _all_match(column, _CLOCK):
        return column.cast(pa.timestamp("us")).cast(pa.int64()).cast(arrow_type)
    return None


def _all_match(column: pa.StringArray, pattern: str) -> bool:
    form = one_form(column)
    # Not every number is an offset: its digits count.
    if form is None or form[-6:-5] in ("+", "-"):
        return bool(pc.all(pc.match_substring_regex(column, f"^{pattern}$")).as_py())
    return re.fullmatch(pattern, form) is not None
