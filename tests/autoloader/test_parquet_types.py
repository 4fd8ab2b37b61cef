"""Columns of Parquet files in all types that Arrow writes, against Spark's batch reader."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.read_plan import NANOS_AS_LONG
from lakeward.autoloader.schema.schema_inference import infer_schema
from tests.autoloader.entry_points import ENTRY_POINTS, read_by
from tests.autoloader.reader_harness import comparable, rows_of

_NOON = datetime.fromisoformat("2024-03-10T12:30:01.000007")
_DAY = datetime.fromisoformat("2024-01-01")
# What Arrow stores in the schema of its own, which PyArrow restores and Spark ignores.
READ: dict[str, tuple[pa.DataType, list[Any]]] = {
    "string": (pa.string(), ["a", None, ""]),
    "large_string": (pa.large_string(), ["a", None]),
    "string_view": (pa.string_view(), ["a", None]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["a", None]),
    "json": (pa.json_(), ['{"a":1}', None]),
    "binary": (pa.binary(), [b"\x00", None]),
    "large_binary": (pa.large_binary(), [b"\x00"]),
    "binary_view": (pa.binary_view(), [b"\x00"]),
    "fixed_binary": (pa.binary(4), [b"abcd", None]),
    "bool": (pa.bool_(), [True, None]),
    "bool8": (pa.bool8(), [1, None]),
    "int8": (pa.int8(), [-128, 127, None]),
    "int16": (pa.int16(), [-(2**15)]),
    "int32": (pa.int32(), [-(2**31)]),
    "int64": (pa.int64(), [-(2**63)]),
    "uint8": (pa.uint8(), [255, None]),
    "uint16": (pa.uint16(), [2**16 - 1]),
    "uint32": (pa.uint32(), [2**32 - 1]),
    "uint64": (pa.uint64(), [2**64 - 1, None]),
    "float32": (pa.float32(), [1.5, None]),
    "float64": (pa.float64(), [1.5, None]),
    "decimal32": (pa.decimal32(5, 2), [Decimal("1.23"), None]),
    "decimal64": (pa.decimal64(12, 2), [Decimal("1.23")]),
    "decimal128": (pa.decimal128(38, 10), [Decimal("1.23")]),
    "decimal256": (pa.decimal256(30, 2), [Decimal("1.23")]),
    "date32": (pa.date32(), [date(2024, 1, 1), None]),
    "date64": (pa.date64(), [date(2024, 1, 1)]),
    "timestamp_s": (pa.timestamp("s"), [_DAY]),
    "timestamp_ms": (pa.timestamp("ms"), [_DAY, None]),
    "timestamp_us": (pa.timestamp("us"), [_NOON, None]),
    "timestamp_ms_utc": (pa.timestamp("ms", "UTC"), [_DAY.replace(tzinfo=timezone.utc)]),
    "timestamp_us_zone": (pa.timestamp("us", "Europe/Berlin"), [_NOON.replace(tzinfo=timezone.utc), None]),
    "time_us": (pa.time64("us"), [time(1, 2, 3, 4), None]),
    "duration": (pa.duration("us"), [timedelta(1), None]),
}
REFUSED: dict[str, tuple[pa.DataType, Any]] = {
    "timestamp_ns": (pa.timestamp("ns"), _NOON),
    "timestamp_ns_utc": (pa.timestamp("ns", "UTC"), _NOON.replace(tzinfo=timezone.utc)),
    "time_ms": (pa.time32("ms"), time(1, 2, 3)),
    "time_ns": (pa.time64("ns"), time(1, 2, 3)),
    "float16": (pa.float16(), 1.5),
    "uuid": (pa.uuid(), b"0123456789abcdef"),
}
# Where in a column a type is. Arrow builds no lists of extension types from Python's values.
SHAPES: dict[str, tuple[Callable[[pa.DataType], pa.DataType], Callable[[Any], Any]]] = {
    "plain": (lambda dtype: dtype, lambda value: value),
    "list": (pa.list_, lambda value: [value, None]),
    "large_list": (pa.large_list, lambda value: [value]),
    "fixed_list": (lambda dtype: pa.list_(dtype, 2), lambda value: [value, value]),
    "list_view": (pa.list_view, lambda value: [value]),
    "struct": (lambda dtype: pa.struct([("x", dtype)]), lambda value: {"x": value}),
    "map": (lambda dtype: pa.map_(pa.string(), dtype), lambda value: [("k", value)]),
    "list of structs": (lambda dtype: pa.list_(pa.struct([("x", dtype)])), lambda value: [{"x": value}]),
}


def column(dtype: pa.DataType, shape: str, values: list[Any]) -> pa.Array | None:
    """Return an array of values in a shape; None for those that Arrow cannot build or write."""
    as_type, as_value = SHAPES[shape]
    if shape != "plain" and isinstance(dtype, pa.BaseExtensionType):
        return None
    try:
        array = pa.array([as_value(value) for value in (values * 3)[:3]], as_type(dtype))
        pq.write_table(pa.table({"v": array}), BytesIO())
    except pa.ArrowNotImplementedError:
        return None
    return array


def inferred(path: Path, *, nanos_as_long: bool = False) -> StructType:
    files = [FileStatus(f"file:{path}", str(path), 1, 1)]
    options = Options.of({"cloudFiles.format": "parquet"})
    return infer_schema(files, options, nanos_as_long=nanos_as_long)


def condition(action: Callable[[], Any]) -> str | None:
    try:
        action()
    except PySparkException as error:
        return error.getCondition()
    return None


def written(tmp_path: Path, shape: str, names: list[str], **settings: Any) -> Path:
    """Write a file with a column of each type that Arrow can build and write in the shape."""
    columns = {}
    for name in names:
        array = column(READ[name][0], shape, READ[name][1])
        if array is not None:
            columns[name] = array
    path = tmp_path / "types.parquet"
    pq.write_table(pa.table(columns), path, **settings)
    return path


# TIME cannot be written to a Delta table.
STORED = [name for name in READ if name != "time_us"]


@pytest.mark.rule("2.2", "2.3.6")
def test_types_and_values_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Every type of Arrow, in every shape, with Arrow's own schema in the file and without it."""
    for shape in SHAPES:
        for stored in (True, False):
            path = written(tmp_path, shape, list(READ), store_schema=stored)
            expected = spark.read.parquet(str(path))
            schema = inferred(path)
            assert schema.simpleString() == expected.schema.simpleString(), (shape, stored)
            assert len(schema) >= 30, shape
            rows = rows_of([path], schema, cf_format="parquet", rescued="_rescued")
            assert {row.pop("_rescued") for row in rows} == {None}, (shape, stored)
            assert comparable(rows) == comparable(expected.collect()), (shape, stored)


@pytest.mark.rule("2.2")
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_reads_every_type(spark: SparkSession, tmp_path: Path, entry: str) -> None:
    path = written(tmp_path, "plain", STORED)
    expected = spark.read.parquet(str(path))
    found = read_by(spark, entry, path, "parquet", {})
    assert found.schema.simpleString() == expected.schema.simpleString()
    assert sorted(map(repr, found.collect())) == sorted(map(repr, expected.collect()))


@pytest.mark.rule("2.2")
def test_types_that_spark_refuses_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Inference fails with Spark's condition, as does a column of the schema; other columns are read."""
    for name, (dtype, value) in REFUSED.items():
        for shape in ("plain", "struct", "list"):
            array = column(dtype, shape, [value])
            if array is None:
                continue
            path = tmp_path / "types.parquet"
            pq.write_table(pa.table({"id": [1, 2, 3], "v": array}), path)
            assert condition(partial(spark.read.parquet, str(path))) == "PARQUET_TYPE_ILLEGAL", (name, shape)
            with pytest.raises(Exception, match=r"^\[PARQUET_TYPE_ILLEGAL\] Illegal Parquet type: \w+ \("):
                inferred(path)
            for data in ("v string", "id bigint, V string"):
                with pytest.raises(Exception, match=r"PARQUET_TYPE_ILLEGAL.* of column v of "):
                    rows_of([path], StructType.fromDDL(data), cf_format="parquet", readerCaseSensitive=False)
            rows = rows_of([path], StructType.fromDDL("id bigint"), cf_format="parquet")
            assert [row["id"] for row in rows] == [1, 2, 3], (name, shape)


@pytest.mark.rule("2.2")
def test_entry_points_refuse_nanoseconds_or_read_them_as_bigint(spark: SparkSession, tmp_path: Path) -> None:
    """Pandas writes nanoseconds; the setting of Spark is the known way to read them."""
    path = tmp_path / "pandas.parquet"
    pq.write_table(pa.table({"id": [1], "at": pa.array([_NOON], pa.timestamp("ns"))}), path)
    for entry in ENTRY_POINTS:
        found = condition(partial(read_by, spark, entry, path, "parquet", {}))
        assert found == "PARQUET_TYPE_ILLEGAL", entry
    spark.conf.set(NANOS_AS_LONG, "true")
    try:
        expected = spark.read.parquet(str(path)).collect()
        assert expected[0]["at"] == 1710073801000007000
        # A streaming table has the settings of its own update, not those of the session.
        for entry in ("cloudFiles", "read_files", "COPY INTO"):
            assert read_by(spark, entry, path, "parquet", {}).collect() == expected, entry
    finally:
        spark.conf.unset(NANOS_AS_LONG)
