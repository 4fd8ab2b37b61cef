"""Vectorized casts return the values of the text parsers."""

from __future__ import annotations

from datetime import timezone
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    TimestampType,
)

from lakeward.autoloader.conversion.date_patterns import parse_zone
from lakeward.autoloader.conversion.text_columns import cast_text_column, common_shape
from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.text_parsing import value_parser

UTC = TextFormats(timezone.utc)
PARIS = TextFormats(parse_zone("Europe/Paris") or timezone.utc)
TYPES: dict[DataType, pa.DataType] = {
    BooleanType(): pa.bool_(),
    IntegerType(): pa.int32(),
    LongType(): pa.int64(),
    DoubleType(): pa.float64(),
    DecimalType(5, 0): pa.decimal128(5, 0),
    DecimalType(5, 2): pa.decimal128(5, 2),
    DateType(): pa.date32(),
    TimestampType(): pa.timestamp("us", tz="UTC"),
}
COUNTED: dict[str, pa.DataType] = {"date": pa.int32(), "timestamp": pa.int64()}
NUMBERS = st.from_regex(r"-?[0-9]{0,20}(\.[0-9]{0,3})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
DAYS = st.sampled_from(["2024-02-29", "2023-02-29", "1582-10-10", "2024-2-9", "9999-12-31"])
CLOCKS = st.sampled_from(["", "T10:00:00", " 23:59:59.5", " 23:59:60", " 10:00", "T01:02:03.1234567"])
ZONES = st.sampled_from(["", "Z", "+01:00", "-17:59", "+19:00", " UTC"])
TIMES = st.builds("{}{}{}".format, DAYS, CLOCKS, ZONES)
ODD = st.sampled_from(["", " 1", "+1", "0x1", "1.", ".5", "-", "NaN", "TRUE", "no", "1_0", "١"])


def one_by_one(texts: list[str | None], dtype: DataType, formats: TextFormats) -> pa.Array | None:
    parse = value_parser(dtype, formats)
    values = [None if text is None else parse(text) for text in texts]
    if any(value is None and text is not None for value, text in zip(values, texts, strict=True)):
        return None
    return pa.array(values, COUNTED.get(dtype.typeName(), TYPES[dtype])).cast(TYPES[dtype])


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.lists(NUMBERS | TIMES | ODD | st.none(), min_size=1, max_size=3).flatmap(
        lambda texts: st.sampled_from([texts, texts[:1] * 2])
    ),
    st.sampled_from([*TYPES]),
    st.sampled_from([UTC, PARIS]),
)
@example(["2024-01-01T10:00:00+19:00"], TimestampType(), UTC)
@example(["2024-01-01 00:00:0", "02024-01-01 00:00:00"], TimestampType(), UTC)
def test_columns_hold_what_each_text_gives(
    texts: list[str | None], dtype: DataType, formats: TextFormats
) -> None:
    column = cast_text_column(pa.array(texts, pa.string()), dtype, TYPES[dtype], formats)
    assert column is None or column.equals(one_by_one(texts, dtype, formats))


@pytest.mark.parametrize(
    ("dtype", "texts"),
    [
        (BooleanType(), ["true", "FALSE", None]),
        (LongType(), ["-7", "9223372036854775807", None]),
        (LongType(), [None]),
        (DoubleType(), ["1.5", "1E-3", "-0"]),
        (DecimalType(5, 2), ["-1.5", "123", "0.25"]),
        (DateType(), ["2024-02-29", None, "2023-01-01"]),
        (DateType(), [None]),
        (TimestampType(), ["2024-01-01 10:00:00", "2024-01-01 10:00:01"]),
        (TimestampType(), ["2024-01-01T10:00:00Z", "2024-01-01T10:00:00.5Z", None]),
        (TimestampType(), ["2024-01-01T10:00:00+02:00", "2024-01-01T10:00:00+02:00"]),
    ],
)
def test_plain_columns_are_converted_at_once(dtype: DataType, texts: list[str | None]) -> None:
    column = cast_text_column(pa.array(texts, pa.string()), dtype, TYPES[dtype], UTC)
    assert column is not None
    assert column.equals(one_by_one(texts, dtype, UTC))


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (BooleanType(), "yes"),
        (IntegerType(), "2147483648"),
        (LongType(), " 1"),
        (LongType(), "0x1"),
        (DoubleType(), "NaN"),
        (DecimalType(5, 2), "1234"),
        (DecimalType(5, 2), "1.555"),
        (DateType(), "2024-2-9"),
        (TimestampType(), "2024-01-01"),
        (TimestampType(), "2024-01-01 10:00:00 UTC"),
    ],
)
def test_columns_with_another_text_are_left_to_be_read_one_by_one(dtype: DataType, text: str) -> None:
    assert cast_text_column(pa.array([text], pa.string()), dtype, TYPES[dtype], UTC) is None


def test_a_part_of_a_column_is_judged_by_its_own_texts() -> None:
    texts: Any = pa.array(["x", "12", "y"], pa.string())
    column = cast_text_column(texts.slice(1, 1), LongType(), pa.int64(), UTC)
    assert column is not None
    assert column.to_pylist() == [12]


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["12:3", None, "45:6"], "00:0"),
        (["12:3", "12-3"], None),
        (["12", "1234"], None),
        (["ü1", "ü2"], None),
        (["", ""], None),
        ([None], None),
    ],
)
def test_one_form_is_that_of_every_text(texts: list[str | None], form: str | None) -> None:
    assert common_shape(pa.array(texts, pa.string())) == form


def test_clocks_without_an_offset_are_the_zones() -> None:
    texts = pa.array(["2024-01-01 10:00:00"], pa.string())
    assert cast_text_column(texts, TimestampType(), TYPES[TimestampType()], PARIS) is None
