"""Avro, ORC and Parquet: the types of the file, columns by name, rescued values (AL-2.2, AL-4)."""

from __future__ import annotations

import json
import uuid
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyspark.sql.types import ArrayType, MapType, StringType, StructType

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.schema.schema_inference import infer_schema
from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import rows_of, schema_of


def avro(path: Path, records: list[dict[str, Any]], codec: str = "null", **fields: Any) -> Path:
    schema = {
        "type": "record",
        "name": "R",
        "namespace": "n",
        "fields": [{"name": name, "type": dtype} for name, dtype in fields.items()],
    }
    with path.open("wb") as stream:
        fastavro.writer(stream, fastavro.parse_schema(schema), records, codec=codec)
    return path


def inferred(paths: list[Path], **options: str) -> str:
    files = [FileStatus(f"file:{path}", str(path), 1, n) for n, path in enumerate(paths)]
    given = {key.replace("cf_", "cloudFiles."): value for key, value in options.items()}
    return infer_schema(files, Options.of(given)).simpleString()


LOGICAL: dict[str, tuple[Any, str, Any, Any]] = {
    "i": ("int", "int", 1, 1),
    "l": (["null", "long"], "bigint", None, None),
    "il": (["int", "long"], "bigint", 2**40, 2**40),
    "fd": (["float", "double", "null"], "double", 1.5, 1.5),
    "b": ("bytes", "binary", b"x", b"x"),
    "e": ({"type": "enum", "name": "E", "symbols": ["A"]}, "string", "A", "A"),
    "e2": ("n.E", "string", "A", "A"),
    "f": ({"type": "fixed", "name": "F", "size": 2}, "binary", b"ab", b"ab"),
    "day": ({"type": "int", "logicalType": "date"}, "date", *[date(2024, 1, 2)] * 2),
    "d": (
        {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
        "decimal(5,2)",
        *[Decimal("1.20")] * 2,
    ),
    "u": (
        {"type": "string", "logicalType": "uuid"},
        "string",
        uuid.UUID(int=1),
        "00000000-0000-0000-0000-000000000001",
    ),
    "a": ({"type": "array", "items": "string"}, "array<string>", ["x"], ["x"]),
    "m": ({"type": "map", "values": "long"}, "map<string,bigint>", {"k": 1}, [("k", 1)]),
    "r": (
        {"type": "record", "name": "S", "fields": [{"name": "x", "type": "int"}]},
        "struct<x:int>",
        {"x": 1},
        {"x": 1},
    ),
    "either": (
        ["int", "string"],
        "struct<member0:int,member1:string>",
        "s",
        {"member0": None, "member1": "s"},
    ),
}


@pytest.mark.rule("2.2")
@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"])
def test_avro_types_and_values_under_every_codec(tmp_path: Path, codec: str) -> None:
    record = {name: value for name, (_, _, value, _) in LOGICAL.items()}
    path = avro(tmp_path / "a.avro", [record], codec, **{n: dtype for n, (dtype, *_) in LOGICAL.items()})
    expected = ",".join(f"{name}:{dtype}" for name, (_, dtype, _, _) in LOGICAL.items())
    assert inferred([path], cf_format="avro") == f"struct<{expected}>"
    schema = infer_schema([FileStatus("k", str(path), 1, 1)], Options.of({"cloudFiles.format": "avro"}))
    assert rows_of([path], schema, cf_format="avro") == [{n: found for n, (*_, found) in LOGICAL.items()}]


def test_avro_times_keep_their_zone_or_its_absence(tmp_path: Path) -> None:
    zoned = {"type": "long", "logicalType": "timestamp-millis"}
    plain = {"type": "long", "logicalType": "local-timestamp-micros"}
    clock = {"type": "long", "logicalType": "time-micros"}
    path = avro(tmp_path / "a.avro", [{"z": 1500, "p": 2, "c": 3}], z=zoned, p=plain, c=clock)
    assert inferred([path], cf_format="avro") == "struct<z:timestamp,p:timestamp_ntz,c:bigint>"
    row = rows_of([path], schema_of(z="timestamp", p="timestamp_ntz", c="long"), cf_format="avro")[0]
    assert (row["z"].timestamp(), row["p"].microsecond, row["c"]) == (1.5, 2, 3)


def test_avro_values_inside_of_others_are_converted_too(tmp_path: Path) -> None:
    mark = {"type": "string", "logicalType": "uuid"}
    node = {"type": "record", "name": "S", "fields": [{"name": "u", "type": ["null", mark]}]}
    one = uuid.UUID(int=1)
    record = {"r": {"u": one}, "l": [one], "m": {"k": one}, "n": {"u": None}}
    types = {
        "r": node,
        "l": {"type": "array", "items": mark},
        "m": {"type": "map", "values": mark},
        "n": "n.S",
    }
    path = avro(tmp_path / "a.avro", [record], **types)
    schema = infer_schema([FileStatus("k", str(path), 1, 1)], Options.of({"cloudFiles.format": "avro"}))
    assert rows_of([path], schema, cf_format="avro") == [
        {"r": {"u": str(one)}, "l": [str(one)], "m": [("k", str(one))], "n": {"u": None}}
    ]


def test_what_event_hubs_capture_writes(tmp_path: Path) -> None:
    """Its own schema, read whole, and for its body alone with the rest rescued, as notebooks do."""
    anything = {"type": "map", "values": ["long", "double", "string", "bytes"]}
    record = {
        "SequenceNumber": 7,
        "Offset": "4294967296",
        "EnqueuedTimeUtc": "1/15/2024 10:00:00 AM",
        "SystemProperties": {"x-opt-enqueued-time": 1705312800000, "x-opt-key": "k"},
        "Properties": {"ratio": 0.5, "raw": b"x"},
        "Body": b'{"id": 1}',
    }
    types = {"SequenceNumber": "long", "Offset": "string", "EnqueuedTimeUtc": "string"}
    path = avro(tmp_path / "0.avro", [record], "deflate", **types, SystemProperties=anything,
                Properties=anything, Body=["bytes", "null"])  # fmt: skip
    schema = infer_schema([FileStatus("k", str(path), 1, 1)], Options.of({"cloudFiles.format": "avro"}))
    assert schema["Properties"].dataType.simpleString() == (
        "map<string,struct<member0:bigint,member1:double,member2:string,member3:binary>>"
    )
    row = rows_of([path], schema, cf_format="avro")[0]
    assert (row["Body"], dict(row["SystemProperties"])["x-opt-key"]["member2"]) == (b'{"id": 1}', "k")
    body = rows_of([path], schema_of(Body="binary"), rescued="_rescue", cf_format="avro")[0]
    assert json.loads(body["_rescue"])["Properties"]["ratio"] == {"member1": 0.5}


def test_a_recursive_avro_type_is_an_error(tmp_path: Path) -> None:
    node = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "n.N"]}]}
    path = avro(tmp_path / "a.avro", [{"r": {"next": None}}], r=node)
    with pytest.raises(CloudFilesError, match=r"FAILED_READ_FILE\.NO_HINT.*n\.N contains itself"):
        rows_of([path], schema_of(r="string"), cf_format="avro")


@pytest.mark.rule("1.5")
def test_avro_is_read_with_the_schema_that_an_option_gives(tmp_path: Path) -> None:
    path = avro(tmp_path / "a.avro", [{"a": 1, "b": "x"}], a="int", b="string")
    fields = [{"name": "a", "type": "long"}, {"name": "new", "type": "string", "default": "d"}]
    wanted = json.dumps({"type": "record", "name": "R", "namespace": "n", "fields": fields})
    assert inferred([path], cf_format="avro", avroSchema=wanted) == "struct<a:bigint,new:string>"
    schema = schema_of(a="long", new="string")
    assert rows_of([path], schema, cf_format="avro", avroSchema=wanted) == [{"a": 1, "new": "d"}]


@pytest.mark.rule("1.5")
@pytest.mark.parametrize("name", ["R", "n.R", "Other", "topLevelRecord"])
@pytest.mark.parametrize("inner", ["I", "Other_inner"])
@pytest.mark.parametrize("shape", ["plain", "nullable", "array", "map"])
def test_avro_records_match_by_their_fields_whatever_their_names(
    tmp_path: Path, name: str, inner: str, shape: str
) -> None:
    def shaped(record: Any) -> Any:
        return {
            "plain": record,
            "nullable": ["null", record],
            "array": {"type": "array", "items": record},
            "map": {"type": "map", "values": ["null", record]},
        }[shape]

    value = {"array": [{"x": 1, "y": 2}], "map": {"k": {"x": 1, "y": 2}}}.get(shape, {"x": 1, "y": 2})
    numbers = [{"name": "x", "type": "int"}, {"name": "y", "type": "int"}]
    path = avro(tmp_path / "a.avro", [{"a": 1, "r": value}], a="int",
                r=shaped({"type": "record", "name": "I", "fields": numbers}))  # fmt: skip
    nested = shaped({"type": "record", "name": inner, "fields": [{"name": "x", "type": "long"}]})
    fields = [{"name": "a", "type": "long"}, {"name": "r", "type": nested}]
    wanted = json.dumps({"type": "record", "name": name, "fields": fields})
    expected = {
        "plain": "struct<x:bigint>",
        "nullable": "struct<x:bigint>",
        "array": "array<struct<x:bigint>>",
        "map": "map<string,struct<x:bigint>>",
    }[shape]
    assert inferred([path], cf_format="avro", avroSchema=wanted) == f"struct<a:bigint,r:{expected}>"
    record: Any = StructType().add("x", "long")
    types = {"array": ArrayType(record), "map": MapType(StringType(), record)}
    schema = StructType().add("a", "long").add("r", types.get(shape, record))
    (row,) = rows_of([path], schema, cf_format="avro", avroSchema=wanted)
    found = row["r"][0] if shape == "array" else dict(row["r"])["k"] if shape == "map" else row["r"]
    assert (row["a"], found) == (1, {"x": 1})


@pytest.mark.rule("4.3.6", "4.2")
def test_avro_rescues_what_has_no_place(tmp_path: Path) -> None:
    path = avro(tmp_path / "a.avro", [{"a": 1, "b": {"x": 1}, "c": None}], a="int",
                b={"type": "map", "values": "int"}, c=["null", "string"])  # fmt: skip
    row = rows_of([path], schema_of(a="long"), rescued="_r", cf_format="avro")[0]
    assert row == {"a": None, "_r": f'{{"a":1,"b":{{"x":1}},"_file_path":"file:{path}"}}'}


@pytest.mark.rule("2.2")
def test_parquet_files_are_merged_to_the_widest_type(tmp_path: Path) -> None:
    for number, dtype in enumerate((pa.int32(), pa.int64())):
        table = pa.table({"n": pa.array([1], dtype), f"c{number}": ["x"]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    assert inferred(paths, cf_format="parquet") == "struct<n:bigint,c0:string,c1:string>"


@pytest.mark.rule("2.2")
def test_int96_of_spark_is_an_instant_and_plain_clocks_stay(tmp_path: Path) -> None:
    """Spark writes timestamps as INT96, which has no zone in Arrow."""
    path, plain = tmp_path / "a.parquet", tmp_path / "b.parquet"
    instant = datetime(2924, 7, 1, 12, tzinfo=timezone.utc)
    clock = instant.replace(tzinfo=None)
    kinds = {
        "t": pa.timestamp("us"),
        "s": pa.struct([("n", pa.int64()), ("t", pa.timestamp("us"))]),
        "l": pa.list_(pa.timestamp("us")),
        "m": pa.map_(pa.string(), pa.timestamp("us")),
        "z": pa.string(),
    }
    row = {"t": clock, "s": {"n": 1, "t": clock}, "l": [clock, None], "m": [("k", clock)], "z": "x"}
    table = pa.Table.from_pylist([row], pa.schema(kinds.items()))
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    pq.write_table(table, plain)
    types = "t:{0},s:struct<n:bigint,t:{0}>,l:array<{0}>,m:map<string,{0}>,z:string"
    assert inferred([path], cf_format="parquet") == f"struct<{types.format('timestamp')}>"
    assert inferred([plain], cf_format="parquet") == f"struct<{types.format('timestamp_ntz')}>"
    schema = infer_schema([FileStatus("k", str(path), 1, 1)], Options.of({"cloudFiles.format": "parquet"}))
    assert rows_of([path], schema, rescued="_r", cf_format="parquet") == [
        {
            "t": instant,
            "s": {"n": 1, "t": instant},
            "l": [instant, None],
            "m": [("k", instant)],
            "z": "x",
            "_r": None,
        }
    ]


def test_records_inside_grow_without_losing_the_old_files(tmp_path: Path) -> None:
    """A field that a file's record lacks is null; one that the schema's record lacks is rescued alone."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"s": [{"x": 1, "z": "more"}, None], "l": [[{"x": 1}], []]}), path)
    inner = schema_of(x="long", y="string")
    schema = StructType().add("s", inner).add("l", ArrayType(inner))
    rows = rows_of([path], schema, rescued="_r", cf_format="parquet")
    assert rows[0]["s"] == {"x": 1, "y": None}
    assert rows[0]["l"] == [{"x": 1, "y": None}]
    assert rows[0]["_r"] == f'{{"s":{{"z":"more"}},"_file_path":"file:{path}"}}'
    assert rows[1] == {"s": None, "l": [], "_r": None}


@pytest.mark.rule("2.1.7", "1.5")
def test_orc_is_read_by_name_with_a_schema_and_never_inferred(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    orc.write_table(pa.table({"b": ["x", None], "a": pa.array([1, 2], pa.int32())}), path)
    rows = rows_of([path], schema_of(a="long", b="string", c="date"), cf_format="orc")
    assert rows == [{"a": 1, "b": "x", "c": None}, {"a": 2, "b": None, "c": None}]
    with pytest.raises(CloudFilesError, match="CF_UNSUPPORTED_FORMAT_FOR_SCHEMA_INFERENCE"):
        inferred([path], cf_format="orc")


def test_clocks_of_orc_are_those_of_the_session(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    clock = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("us"))  # noqa: DTZ001  # it has none
    number = pa.field("n", pa.int64(), metadata={"spark.sql.catalyst.type": "timestamp_ntz"})
    schema = pa.schema([pa.field("t", clock.type), pa.field("p", clock.type), number])
    orc.write_table(pa.table([clock, clock, clock.cast(pa.int64())], schema=schema), path)
    columns = schema_of(t="timestamp", p="timestamp_ntz", n="timestamp_ntz")
    row = rows_of([path], columns, cf_format="orc", timeZone="Europe/Berlin")[0]
    assert (row["t"].isoformat(), row["p"], row["n"]) == (
        "2024-07-01T10:00:00+00:00",
        *[datetime(2024, 7, 1, 12)] * 2,  # noqa: DTZ001  # as above
    )


@pytest.mark.parametrize("cf_format", ["avro", "orc", "parquet"])
def test_a_file_of_another_format_is_an_error_or_skipped(tmp_path: Path, cf_format: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"Obj\x01 and no more")
    with pytest.raises(CloudFilesError, match=r"FAILED_READ_FILE\.NO_HINT"):
        rows_of([path], schema_of(a="integer"), cf_format=cf_format)
    assert rows_of([path], schema_of(a="integer"), cf_format=cf_format, ignoreCorruptFiles=True) == []


@pytest.mark.parametrize("cut", [30, 80, 200, 400])
def test_a_cut_avro_file_is_an_error_or_skipped(tmp_path: Path, cut: int) -> None:
    path = avro(tmp_path / "a.avro", [{"a": n, "b": "x" * n} for n in range(50)], a="int", b="string")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(CloudFilesError, match=r"FAILED_READ_FILE\.NO_HINT"):
        rows_of([path], schema_of(a="integer"), cf_format="avro")
    assert rows_of([path], schema_of(a="integer"), cf_format="avro", ignoreCorruptFiles=True) == []
