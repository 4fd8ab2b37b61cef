"""Spark's own readers of Parquet and Avro return the rows of the Python readers, for all types and codecs."""

from __future__ import annotations

import math
import uuid
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import StructType

from tests.autoloader.scan_routes import (
    Cells,
    Plans,
    cycle,
    longs,
    plans,
    put_avro,
    put_parquet,
    qualifying,
    scanning,
)

__all__ = ["plans", "scanning"]

DATES = [date(1, 1, 1), date(1582, 10, 10), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31), None]
TIMES = [
    datetime.fromisoformat(text) if text else None
    for text in ("0001-01-02", "1883-11-18T12:00:00", "2024-03-31T02:30:00.123456", "")
]
TEXTS = ["", "Zürich 😀", "a" * 500, 'quo"te\\', None, "x", "x", "\n"]
BYTES = [b"", b"\x00\xff", None, b"y" * 300]
NESTED: list[Any] = [None, {"x": None, "s": {"d": None, "t": "u"}}, {"x": 7, "s": None}]
NESTED += [{"x": -1, "s": {"d": 1.5, "t": None}}]
INSTANTS = [None if t is None else t.replace(tzinfo=timezone.utc) for t in TIMES]
STRUCT = pa.struct([("x", pa.int64()), ("s", pa.struct([("d", pa.float64()), ("t", pa.string())]))])
PARQUET = {
    "b": (pa.bool_(), [True, None, False]),
    "i8": (pa.int8(), [-128, 127, None]),
    "i16": (pa.int16(), [-32768, None, 32767]),
    "i32": (pa.int32(), [None, -(2**31), 2**31 - 1, 0]),
    "i64": (pa.int64(), [-(2**63), 2**63 - 1, None, 5]),
    "f": (pa.float32(), [1.5, math.inf, -0.0, None]),
    "d": (pa.float64(), [math.nan, -math.inf, 1e-308, None, 0.1]),
    "s": (pa.string(), TEXTS),
    "y": (pa.binary(), BYTES),
    "day": (pa.date32(), DATES),
    "at": (pa.timestamp("us", "UTC"), INSTANTS),
    "clock": (pa.timestamp("us"), TIMES),
    "d5": (pa.decimal128(5, 2), [Decimal("-999.99"), Decimal("0.01"), None]),
    "d18": (pa.decimal128(18, 3), [Decimal("123456789012345.678"), None]),
    "d38": (pa.decimal128(38, 10), [Decimal("-1234567890123456789012345678.0123456789"), None]),
    "l": (pa.list_(pa.int32()), [[], None, [1, None, 3]]),
    "ls": (pa.list_(STRUCT), [None, [], [{"x": 1, "s": {"d": 2.0, "t": "z"}}, None]]),
    "m": (pa.map_(pa.string(), pa.int64()), [None, [], [("k", 1), ("j", None)]]),
    "r": (STRUCT, NESTED),
    "größe mit leerzeichen": (pa.int32(), [1, None]),
}  # fmt: skip
SPARK_TYPES = (
    "b boolean, i8 tinyint, i16 smallint, i32 int, i64 bigint, f float, d double, s string, y binary, "
    "day date, at timestamp, clock timestamp_ntz, d5 decimal(5,2), d18 decimal(18,3), d38 decimal(38,10), "
    "l array<int>, ls array<struct<x:bigint,s:struct<d:double,t:string>>>, m map<string,bigint>, "
    "r struct<x:bigint,s:struct<d:double,t:string>>, `größe mit leerzeichen` int"
)
ODD = "größe mit leerzeichen"
COMPARABLE = [name for name in PARQUET if name not in ("m", ODD)]
COMPARABLE += ["map_entries(m) AS m", f"`{ODD}` AS odd", "_rescued_data"]


def parquet_table(rows: int) -> pa.Table:
    return pa.table({name: pa.array(cycle(values, rows), dtype) for name, (dtype, values) in PARQUET.items()})


VARIANTS: dict[str, dict[str, Any]] = {
    **{codec: {"compression": codec} for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4")},
    "plain": {"use_dictionary": False},
    "pages-v2": {"data_page_version": "2.0", "version": "2.6"},
    "v1": {"version": "1.0"},
    "no-arrow-schema": {"store_schema": False},
    "small-pages": {"data_page_size": 512, "row_group_size": 301, "write_page_index": True},
    "decimals-as-integers": {"store_decimal_as_integer": True},
}


@pytest.mark.slow
@pytest.mark.rule("2.2", "4.1.1")
def test_parquet_of_all_types_codecs_and_encodings_gives_the_same_rows(spark, landing, plans: Plans) -> None:
    table = parquet_table(1000)
    for name, options in VARIANTS.items():
        pq.write_table(table, landing.folder / f"{name}.parquet", **options)
    delta = {"i32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED", "s": "DELTA_LENGTH_BYTE_ARRAY",
             "y": "DELTA_BYTE_ARRAY", "d": "BYTE_STREAM_SPLIT", "at": "DELTA_BINARY_PACKED"}  # fmt: skip
    for name, encoding in delta.items():
        path = landing.folder / f"{encoding}-{name}.parquet"
        pq.write_table(table, path, use_dictionary=False, column_encoding={name: encoding})
    for kind in ("INT96", "TIMESTAMP_MICROS"):
        spark.conf.set("spark.sql.parquet.outputTimestampType", kind)
        try:
            seen = spark.read.schema(SPARK_TYPES).parquet(str(landing.folder / "none.parquet"))
            seen.coalesce(1).write.parquet(str(landing.folder / kind))
        finally:
            spark.conf.unset("spark.sql.parquet.outputTimestampType")
    files = len(VARIANTS) + len(delta) + 2
    names = qualifying(landing.folder, seen.schema, "parquet")
    excluded = {"brotli.parquet", "lz4.parquet", "BYTE_STREAM_SPLIT-d.parquet"}
    assert {path.name for path in landing.folder.rglob("*.parquet")} - names == excluded
    options = {"schema": SPARK_TYPES, "format": "parquet", "rescuedDataColumn": "_rescued_data"}
    found = plans.assert_same(*COMPARABLE, rows=1000 * files, **options)
    assert found.where("_rescued_data IS NOT NULL").count() == 0
    assert "ColumnarToRow" not in plans.fast_plan
    for name in excluded:
        (landing.folder / name).unlink()
    plans.assert_same(*COMPARABLE, rows=1000 * (files - len(excluded)), **options)
    assert "ColumnarToRow" in plans.fast_plan


def avro_type(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


AVRO: Cells = {
    "b": ("boolean", "boolean", [True, False]),
    "i": (["null", "int"], "int", [None, -(2**31), 2**31 - 1]),
    "l": (["long", "null"], "bigint", [-(2**63), None, 2**63 - 1]),
    "f": (["null", "float"], "float", [1.5, None, math.inf]),
    "d": (["null", "double"], "double", [math.nan, None, 0.1]),
    "s": (["null", "string"], "string", TEXTS),
    "y": (["null", "bytes"], "binary", BYTES),
    "x": (avro_type("fixed", name="F", size=2), "binary", [b"ab", b"\x00\xff"]),
    "e": (["null", avro_type("enum", name="E", symbols=["A", "B"])], "string", ["A", None, "B"]),
    "day": (["null", avro_type("int", logicalType="date")], "date", DATES),
    "at": (["null", avro_type("long", logicalType="timestamp-micros")], "timestamp", INSTANTS),
    "ms": (avro_type("long", logicalType="timestamp-millis"), "timestamp", [INSTANTS[0], INSTANTS[1]]),
    "clock": (["null", avro_type("long", logicalType="local-timestamp-micros")], "timestamp_ntz", TIMES),
    "n": (
        ["null", avro_type("bytes", logicalType="decimal", precision=20, scale=3)],
        "decimal(20,3)",
        [Decimal("-12345678901234567.891"), None, Decimal("0.001")],
    ),
    "a": (["null", avro_type("array", items=["null", "string"])], "array<string>", [None, [], ["x", None]]),
    "m": (avro_type("map", values=["null", "long"]), "map<string,bigint>", [{}, {"k": 1, "j": None}]),
    "r": (
        ["null", avro_type("record", name="S", fields=[
            {"name": "p", "type": ["null", "int"]}, {"name": "q", "type": "string"}])],
        "struct<p:int,q:string>",
        [None, {"p": None, "q": "t"}, {"p": 3, "q": ""}],
    ),
}  # fmt: skip
AVRO_TYPES = ", ".join(f"{name} {dtype}" for name, (_, dtype, _) in AVRO.items())


@pytest.mark.rule("2.2", "4.1.1")
def test_avro_of_all_types_under_every_codec_gives_the_same_rows(spark, landing, plans: Plans) -> None:
    codecs = ("null", "deflate", "snappy", "zstandard", "bzip2", "xz")
    for codec in codecs:
        put_avro(landing.folder / f"{codec}.avro", AVRO, 500, codec)
    unions = {**AVRO, "i": (["int", "string"], "int", [1, "x"])}
    put_avro(landing.folder / "union.avro", unions, 500)
    uuids = {**AVRO, "s": (avro_type("string", logicalType="uuid"), "string", [uuid.UUID(int=1)])}
    put_avro(landing.folder / "uuid.avro", uuids, 500)
    schema = spark.range(0).selectExpr(f"from_json('', '{AVRO_TYPES}') AS r").select("r.*").schema
    assert qualifying(landing.folder, schema, "avro") == {f"{codec}.avro" for codec in codecs}
    # Maps have no order; Java's reader of Avro has that of a hash table.
    columns = [name for name in AVRO if name != "m"] + ["array_sort(map_entries(m)) AS m", "_rescued_data"]
    found = plans.assert_same(
        *columns, rows=4000, schema=AVRO_TYPES, format="avro", rescuedDataColumn="_rescued_data"
    )
    assert found.where("_rescued_data IS NOT NULL").select("file").distinct().count() == 1


@pytest.mark.rule("4.1.1", "4.3.6")
def test_a_batch_of_files_that_fit_and_files_that_do_not(landing, plans: Plans) -> None:
    put_parquet(landing.folder / "fits.parquet", id=longs(1, 2), name=["a", None])
    put_parquet(landing.folder / "other order.parquet", name=["b"], id=longs(3))
    put_parquet(landing.folder / "fewer.parquet", name=["c"])
    put_parquet(landing.folder / "more.parquet", id=longs(4), name=["d"], extra=[1.5])
    put_parquet(landing.folder / "narrow.parquet", id=pa.array([5], pa.int32()), name=["e"])
    put_parquet(landing.folder / "case.parquet", ID=longs(6), name=["f"])
    put_parquet(landing.folder / "dictionary.parquet", id=longs(7), name=pa.array(["g"]).dictionary_encode())
    put_parquet(landing.folder / "large.parquet", id=longs(8), name=pa.array(["h"], pa.large_string()))
    put_parquet(landing.folder / "unsigned.parquet", id=pa.array([9], pa.uint32()), name=["i"])
    put_parquet(landing.folder / "nothing.parquet", id=longs(), name=pa.array([], pa.string()))
    put_parquet(landing.folder / "ä #%20?:&.parquet", id=longs(10), name=["j"])
    schema = StructType().add("id", "long").add("name", "string")
    assert qualifying(landing.folder, schema, "parquet") == {
        f"{name}.parquet"
        for name in ("fits", "other order", "fewer", "dictionary", "large", "nothing", "ä #%20?:&")
    }
    options = {"schema": "id bigint, name string", "format": "parquet", "rescuedDataColumn": "_rescued_data"}
    found = plans.assert_same(rows=11, **options)
    assert found.where("_rescued_data IS NOT NULL").count() == 3


@pytest.mark.parametrize("vectorized", [True, False])
def test_many_columns_with_and_without_vectors(spark, landing, plans: Plans, vectorized: bool) -> None:
    names = [f"c{number}" for number in range(130)]
    put_parquet(landing.folder / "a.parquet", **{name: longs(1, None, 3) for name in names})
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
    try:
        plans.assert_same(
            rows=3, schema=", ".join(f"{name} bigint" for name in reversed(names)), format="parquet"
        )
    finally:
        spark.conf.unset("spark.sql.parquet.enableVectorizedReader")
    assert "Auto Loader (parquet)" in plans.fast_plan
    assert ("ColumnarToRow" in plans.fast_plan) is vectorized


def test_dates_of_old_writers_are_left_to_the_python_readers(tmp_path: Path) -> None:
    table = pa.table({"id": longs(1)})
    for name, metadata in {
        "old": {"org.apache.spark.version": "2.4.5"},
        "legacy": {"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""},
        "new": {"org.apache.spark.version": "4.2.0"},
    }.items():
        pq.write_table(table.replace_schema_metadata(metadata), tmp_path / f"{name}.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no footer")
    assert qualifying(tmp_path, StructType().add("id", "long"), "parquet") == {"new.parquet"}
