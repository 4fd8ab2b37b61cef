"""The content of the rescued column, byte for byte (AL-4)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from lakeward.autoloader.data_sources import read_batch_files
from lakeward.errors import CloudFilesError, UnknownFieldException
from tests.autoloader.reader_harness import plan_of, rows_of, schema_of


@pytest.mark.rule("4.1.3", "4.1.4")
def test_a_price_with_a_currency_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "lab_malformed_data.csv"
    path.write_text("id,price\n1,$100.00\n")
    row = rows_of(
        [path], schema_of(id="integer", price="double"), rescued="_r", cf_format="csv", header=True
    )[0]
    assert row == {"id": 1, "price": None, "_r": f'{{"price":"$100.00","_file_path":"file:{path}"}}'}


@pytest.mark.rule("4.1.3", "2.3.6")
def test_numbers_of_parquet_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    table = pa.table({"VendorID": pa.array([1], pa.int32()), "passenger_count": pa.array([2], pa.int64())})
    pq.write_table(table, path)
    schema = schema_of(VendorID="long", passenger_count="double")
    row = rows_of([path], schema, rescued="_r", cf_format="parquet")[0]
    assert row["_r"] == f'{{"VendorID":1,"passenger_count":2,"_file_path":"file:{path}"}}'
    assert (row["VendorID"], row["passenger_count"]) == (None, None)


@pytest.mark.rule("4.1.3")
@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (pa.decimal128(38, 18), Decimal("12345678901234567890.123456789012345678"), None),
        (pa.decimal128(5, 2), Decimal("1.50"), None),
        (pa.float64(), 1.5, None),
        (pa.float64(), math.nan, '"NaN"'),
        (pa.float64(), -math.inf, '"-Infinity"'),
        (pa.time64("us"), time(1, 2, 3), '"01:02:03"'),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_numbers_and_times_of_parquet_lose_no_digit(
    tmp_path: Path, dtype: pa.DataType, value: Any, expected: str | None, nested: bool
) -> None:
    path = tmp_path / "f.parquet"
    kept = pa.array([[value]], pa.list_(dtype)) if nested else pa.array([value], dtype)
    pq.write_table(pa.table({"id": [1], "a": kept}), path)
    row = rows_of([path], schema_of(id="long"), rescued="_r", cf_format="parquet")[0]
    text = expected or str(value)
    assert row["_r"] == f'{{"a":{f"[{text}]" if nested else text},"_file_path":"file:{path}"}}'


@pytest.mark.rule("4.1.3")
def test_a_date_of_parquet_is_iso_text(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"date_of_birth": [date(1985, 3, 2)]}), path)
    row = rows_of([path], schema_of(date_of_birth="timestamp"), rescued="_r", cf_format="parquet")[0]
    assert row["_r"] == f'{{"date_of_birth":"1985-03-02T00:00:00.000Z","_file_path":"file:{path}"}}'


@pytest.mark.rule("4.1.3")
def test_an_object_of_json_where_a_number_was_expected_is_escaped_text(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    path.write_text('{"quantity":{"units":2}}\n')
    row = rows_of([path], schema_of(quantity="integer"), rescued="_r")[0]
    assert row["_r"] == f'{{"quantity":"{{\\"units\\":2}}","_file_path":"file:{path}"}}'


@pytest.mark.rule("4.1.3")
def test_a_csv_column_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "index.csv"
    path.write_text(",a\n61488,1\n")
    row = rows_of([path], schema_of(a="integer"), rescued="_r", cf_format="csv", header=True)[0]
    assert row["_r"] == f'{{"_c0":"61488","_file_path":"file:{path}"}}'


@pytest.mark.rule("4.1.1", "4.2", "3.2.10")
def test_nothing_rescued_is_null_and_a_missing_field_is_not_rescued(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a":1,"b":2}\n{"a":1}\n{"a":1,"b":null}\n')
    assert [
        (r["b"], r["_r"]) for r in rows_of([path], schema_of(a="integer", b="integer"), rescued="_r")
    ] == [
        (2, None),
        (None, None),
        (None, None),
    ]


@pytest.mark.rule("4.1.2")
def test_a_setting_omits_the_path(tmp_path: Path) -> None:
    from dataclasses import replace

    from pyspark.sql.types import StringType, StructField, StructType

    from lakeward.autoloader.discovery.file_listing import FileStatus

    path = tmp_path / "a.json"
    path.write_text('{"a":"x"}\n')
    plan = replace(plan_of(schema_of(a="integer"), rescued="_r"), rescue_path=False)
    full = StructType([*schema_of(a="integer").fields, StructField("_r", StringType())])
    batch = next(iter(read_batch_files(plan, full, [FileStatus("k", str(path), 1, 1)], ("", 0, 0))))
    assert batch.to_pylist() == [{"a": None, "_r": '{"a":"x"}'}]


@pytest.mark.rule("4.2")
def test_a_value_out_of_range_is_rescued_as_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a":2147483648}\n{"a":"7"}\n{"a":1.5}\n')
    rescued = [r["_r"] for r in rows_of([path], schema_of(a="integer"), rescued="_r")]
    shown = ["2147483648", '"7"', "1.5"]
    assert rescued == [f'{{"a":{text},"_file_path":"file:{path}"}}' for text in shown]


@pytest.mark.rule("4.2")
def test_an_empty_object_where_there_is_no_column_is_rescued(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a":1,"e":{}}\n')
    row = rows_of([path], schema_of(a="integer"), rescued="_r")[0]
    assert json.loads(row["_r"])["e"] == "{}"


@pytest.mark.rule("4.4", "4.2")
@pytest.mark.parametrize("cf_format", ["json", "csv", "parquet", "xml", "avro"])
def test_names_are_case_sensitive_by_default(tmp_path: Path, cf_format: str) -> None:
    path = written(tmp_path, cf_format)
    options = {"cf_format": cf_format, "header": True, "rowTag": "row"}
    strict = rows_of([path], schema_of(status="string"), rescued="_r", **options)[0]
    assert strict == {"status": None, "_r": f'{{"Status":"SHIPPED","_file_path":"file:{path}"}}'}
    loose = rows_of([path], schema_of(status="string"), rescued="_r", readerCaseSensitive=False, **options)
    assert loose == [{"status": "SHIPPED", "_r": None}]


@pytest.mark.rule("4.4", "4.2")
@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize(
    "fields", [{"a": 1, "A": 2}, {"A": 2, "a": 1}, {"A": 1, "B": 2}, {"B": 2, "A": 1}], ids=str
)
def test_of_fields_that_differ_in_case_one_is_read_and_the_others_are_rescued(
    tmp_path: Path, fields: dict[str, int], is_nested: bool
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist([{"r": fields} if is_nested else fields]), path)
    schema = StructType.fromDDL("r struct<a: bigint>" if is_nested else "a bigint")
    row = rows_of([path], schema, rescued="_r", readerCaseSensitive=False, cf_format="parquet")[0]
    read, rescued = row, json.loads(row["_r"])
    if is_nested:
        read, rescued = row["r"], rescued["r"]
    assert read["a"] == 1
    assert [name for name in fields if rescued.get(name) == 2]


@pytest.mark.rule("4.4")
@pytest.mark.parametrize("rescued", [None, "_r"])
@pytest.mark.parametrize(
    ("shape", "wrap"),
    [
        ("array<{}>", lambda record: [record, None]),
        ("map<string,{}>", lambda record: {"k": record, "none": None}),
        ("array<array<{}>>", lambda record: [[record], None]),
        ("struct<l:array<{}>>", lambda record: {"l": [record]}),
        ("array<struct<r:{}>>", lambda record: [{"r": record}]),
    ],
)
def test_records_in_arrays_and_maps_are_matched_in_another_case(
    tmp_path: Path, shape: str, wrap: Callable[[Any], Any], rescued: str | None
) -> None:
    path = tmp_path / "a.parquet"
    found, wanted = (
        StructType.fromDDL(f"v {shape.format(record)}") for record in ("struct<Id:int>", "struct<id:int>")
    )
    rows = pa.array([wrap({"Id": 1}), None], to_arrow_schema(found).field("v").type)
    pq.write_table(pa.table({"v": rows}), path)
    read = rows_of([path], wanted, rescued=rescued, readerCaseSensitive=False, cf_format="parquet")
    expected = pa.array([wrap({"id": 1}), None], to_arrow_schema(wanted).field("v").type)
    assert [row["v"] for row in read] == expected.to_pylist()
    assert not any(row.get("_r") for row in read)


@pytest.mark.rule("4.4", "2.2.11")
@pytest.mark.parametrize("cf_format", ["json", "csv", "parquet", "xml", "avro"])
def test_another_case_is_rescued_also_where_the_schema_evolves(tmp_path: Path, cf_format: str) -> None:
    path = written(tmp_path, cf_format)
    options = {"cf_format": cf_format, "rowTag": "row", "inferred": True}
    assert rows_of([path], schema_of(status="string"), rescued="_r", **options)[0]["status"] is None


def written(folder: Path, cf_format: str) -> Path:
    """One record `Status: SHIPPED`."""
    path = folder / f"a.{cf_format}"
    texts = {
        "json": '{"Status":"SHIPPED"}\n',
        "csv": "Status\nSHIPPED\n",
        "xml": "<rows><row><Status>SHIPPED</Status></row></rows>",
    }
    if cf_format in texts:
        path.write_text(texts[cf_format])
    elif cf_format == "parquet":
        pq.write_table(pa.table({"Status": ["SHIPPED"]}), path)
    else:
        import fastavro

        schema = {"type": "record", "name": "R", "fields": [{"name": "Status", "type": "string"}]}
        with path.open("wb") as stream:
            fastavro.writer(stream, fastavro.parse_schema(schema), [{"Status": "SHIPPED"}])
    return path


@pytest.mark.rule("4.5.5")
@pytest.mark.parametrize("mode", ["PERMISSIVE", "FAILFAST"])
def test_bad_records_go_to_files_and_beat_the_corrupt_column(tmp_path: Path, mode: str) -> None:
    path, bad = tmp_path / "a.json", tmp_path / "bad"
    path.write_text('{"a":1}\n{"a":\n{"a":"x"}\n')
    schema = schema_of(a="integer", _corrupt_record="string")
    rows = rows_of([path], schema, badRecordsPath=bad, mode=mode)
    assert rows == [{"a": 1, "_corrupt_record": None}]
    parts = list(bad.glob("*/bad_records/part-*"))
    lines = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    assert [(line["path"], line["record"]) for line in lines] == [
        (f"file:{path}", '{"a":'),
        (f"file:{path}", '{"a":"x"}'),
    ]
    assert all(line["reason"] for line in lines)
    datetime.strptime(parts[0].parts[-3], "%Y%m%dT%H%M%S").replace(tzinfo=timezone.utc)


@pytest.mark.rule("4.5.5", "4.5.1")
def test_bad_records_of_csv_are_those_of_another_width_alone_where_values_are_rescued(tmp_path: Path) -> None:
    path, bad = tmp_path / "a.csv", tmp_path / "bad"
    path.write_text("a,b\n1,2\n3\nx,4\n")
    options = {"cf_format": "csv", "header": True, "badRecordsPath": bad}
    rows = rows_of([path], schema_of(a="integer", b="integer"), rescued="_r", **options)
    assert [(row["a"], row["b"]) for row in rows] == [(1, 2), (None, 4)]
    (part,) = bad.glob("*/bad_records/part-*")
    assert json.loads(part.read_text())["record"] == "3"


@pytest.mark.rule("4.5.5")
def test_a_file_that_cannot_be_unpacked_is_named_among_the_bad_files(tmp_path: Path) -> None:
    path, bad = tmp_path / "a.json.gz", tmp_path / "bad"
    path.write_bytes(b"no gzip")
    assert rows_of([path], schema_of(a="integer"), badRecordsPath=bad) == []
    (part,) = bad.glob("*/bad_files/part-*")
    assert json.loads(part.read_text())["path"] == f"file:{path}"
    with pytest.raises(CloudFilesError, match=r"FAILED_READ_FILE\.NO_HINT"):
        rows_of([path], schema_of(a="integer"))


@pytest.mark.rule("3.3.2", "3.3.3", "3.1")
@pytest.mark.parametrize(
    ("cf_format", "condition"),
    [
        ("json", "NEW_FIELDS_IN_RECORD_WITH_FILE_PATH"),
        ("xml", "NEW_FIELDS_IN_RECORD_WITH_FILE_PATH"),
        ("csv", "NEW_FIELDS_IN_FILE"),
        ("parquet", "NEW_FIELDS_IN_FILE"),
        ("avro", "NEW_FIELDS_IN_FILE"),
    ],
)
def test_a_new_field_stops_the_stream_or_goes_to_the_rescued_column(
    tmp_path: Path, cf_format: str, condition: str
) -> None:
    path = written(tmp_path, cf_format)
    options = {"cf_format": cf_format, "rowTag": "row", "rescued": "_r", "inferred": True}
    with pytest.raises(UnknownFieldException) as error:
        rows_of([path], schema_of(other="string"), cf_schemaEvolutionMode="failOnNewColumns", **options)
    assert error.value.condition == f"UNKNOWN_FIELD_EXCEPTION.{condition}"
    assert "Status" in error.value.message and f"file:{path}" in error.value.message
    assert ("SHIPPED" in error.value.message) is condition.startswith("NEW_FIELDS_IN_RECORD")
    row = rows_of([path], schema_of(other="string"), cf_schemaEvolutionMode="rescue", **options)[0]
    assert row == {"other": None, "_r": f'{{"Status":"SHIPPED","_file_path":"file:{path}"}}'}
