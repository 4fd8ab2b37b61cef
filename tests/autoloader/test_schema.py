"""Schemas: merging, hints, storage, evolution (AL-2, AL-3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
)

from lakeward.autoloader.conversion.type_merging import merge_new_fields, merge_types, widen_type
from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.options.schema_hints import apply_hints, parse_hints
from lakeward.autoloader.schema.partition_columns import infer_partition_schema
from lakeward.autoloader.schema.schema_inference import infer_schema, sample_files
from lakeward.autoloader.schema.schema_store import SchemaStore
from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import schema_of

TYPES: dict[str, DataType] = {
    "DATE": DateType(),
    "INT": IntegerType(),
    "STRING": StringType(),
    "TIMESTAMP": TimestampType(),
    "MAP<STRING,STRING>": MapType(StringType(), StringType()),
    "ARRAY<INT>": ArrayType(IntegerType()),
}


def hinted(schema: StructType, text: str) -> str:
    return apply_hints(schema, parse_hints(text, lambda name: TYPES[name])).simpleString()


@pytest.mark.rule("2.3.5")
def test_the_worked_example_of_schema_hints() -> None:
    user = schema_of(id="string", name="string", dob="string")
    inferred_schema = schema_of(date="string", quantity="integer")
    inferred_schema = inferred_schema.add("user_info", user).add(
        "purchase_options", schema_of(delivery_address="string")
    )
    hints = "date DATE, user_info.dob DATE, purchase_options MAP<STRING,STRING>, time TIMESTAMP"
    assert hinted(inferred_schema, hints) == (
        "struct<date:date,quantity:int,user_info:struct<id:string,name:string,dob:date>,"
        "purchase_options:map<string,string>,time:timestamp>"
    )


@pytest.mark.rule("2.3.4")
def test_hints_inside_arrays_and_maps() -> None:
    schema = StructType().add("l", ArrayType(StringType())).add("u", ArrayType(schema_of(id="string")))
    schema = schema.add("m", MapType(StringType(), StringType())).add("p", "string")
    text = "l.element INT, u.element.id INT, m.key INT, m.value DATE, p ARRAY<INT>"
    assert hinted(schema, text) == "struct<l:array<int>,u:array<struct<id:int>>,m:map<int,date>,p:array<int>>"


@pytest.mark.rule("2.3.8")
@pytest.mark.parametrize(
    ("text", "condition"),
    [("a INT, a DATE", "CF_INVALID_SCHEMA_HINTS_OPTION"), ("a", "CF_INVALID_SCHEMA_HINTS_OPTION"),
     ("a NOTYPE", "CF_INVALID_SCHEMA_HINTS_OPTION"), ("m.other INT", "CF_INVALID_SCHEMA_HINT_COLUMN")],
)  # fmt: skip
def test_hints_that_cannot_be_used(text: str, condition: str) -> None:
    with pytest.raises(CloudFilesError, match=rf"\[{condition}\]"):
        hinted(StructType().add("m", MapType(StringType(), StringType())), text)


@pytest.mark.rule("3.4")
@pytest.mark.parametrize(
    ("stored", "found", "expected"),
    [
        (IntegerType(), LongType(), LongType()),
        (LongType(), IntegerType(), LongType()),
        (IntegerType(), DoubleType(), DoubleType()),
        (LongType(), DoubleType(), None),
        (DoubleType(), LongType(), None),
        (IntegerType(), DecimalType(5, 2), DecimalType(12, 2)),
        (LongType(), DecimalType(5, 2), DecimalType(22, 2)),
        (IntegerType(), StringType(), None),
        (StringType(), IntegerType(), None),
        (DateType(), TimestampType(), None),
        (DecimalType(5, 2), DecimalType(10, 4), DecimalType(10, 4)),
    ],
)
def test_the_table_of_type_widening(stored: DataType, found: DataType, expected: DataType | None) -> None:
    assert widen_type(stored, found) == expected


def test_what_has_nothing_in_common_is_a_string() -> None:
    assert merge_types(LongType(), StringType()) == StringType()
    assert merge_types(LongType(), DoubleType()) == DoubleType()
    assert (
        merge_types(schema_of(b="long"), schema_of(a="string")).simpleString() == "struct<a:string,b:bigint>"
    )


@pytest.mark.rule("3.2.5")
def test_new_columns_go_to_the_end_and_old_ones_keep_place_and_type() -> None:
    grown = merge_new_fields(
        schema_of(z="long", a="string"), schema_of(A="long", m="long", z="string"), widen=True
    )
    assert grown.simpleString() == "struct<z:bigint,a:string,m:bigint>"


@pytest.mark.rule("3.2.5")
@pytest.mark.parametrize("form", ["ARRAY<{}>", "MAP<STRING, {}>", "MAP<{}, INT>", "STRUCT<s: MAP<INT, {}>>"])
def test_new_fields_of_records_in_arrays_and_maps_are_added(form: str) -> None:
    stored, found, grown = (
        StructType.fromDDL(f"c {form.format(record)}")
        for record in ("STRUCT<z: INT, b: INT>", "STRUCT<a: INT, b: INT>", "STRUCT<z: INT, b: INT, a: INT>")
    )
    assert merge_new_fields(stored, found) == grown


def infer(folder: Path, text: str, **options: str) -> str:
    path = folder / "f"
    path.write_text(text)
    parsed = Options.of({key.replace("cf_", "cloudFiles."): value for key, value in options.items()})
    return infer_schema([FileStatus("file:/f", str(path), 1, 1)], parsed).simpleString()


@pytest.mark.rule("2.2", "2.2.11")
def test_inferred_json_types_are_those_of_spark(tmp_path: Path) -> None:
    text = (
        '{"b":1,"a":1.5,"c":{"y":1,"x":null},"d":[1,2.5],"e":[],"f":null,"g":123456789012345678901,"h":true,"j":{}}\n'
        '{"b":"x","a":2,"c":{"z":true},"d":["s"],"h":1}\n'
    )
    assert infer(tmp_path, text, cf_format="json", cf_inferColumnTypes="true") == (
        "struct<a:double,b:string,c:struct<x:string,y:bigint,z:boolean>,d:array<string>,e:array<string>,f:string,"
        "g:decimal(21,0),h:string>"
    )
    assert infer(tmp_path, '{"B":1,"a":2}\n{"b":3}\n', cf_format="json") == "struct<B:string,a:string>"


@pytest.mark.rule("2.2")
def test_inferred_csv_types_are_those_of_spark(tmp_path: Path) -> None:
    text = (
        "a,b,c,d,e,f,g,h,i\n1,1.5,x,2024-01-01,2024-01-01T10:00:00,true,2147483648,,9223372036854775808\n"
        "2,2,y,2024-01-02,2024-01-01,false,1,,1\n"
    )
    assert infer(tmp_path, text, cf_format="csv", cf_inferColumnTypes="true") == (
        "struct<a:int,b:double,c:string,d:date,e:timestamp,f:boolean,g:bigint,h:string,i:decimal(19,0)>"
    )
    assert infer(tmp_path, "1,x\n", cf_format="csv", header="false") == "struct<_c0:string,_c1:string>"


@pytest.mark.rule("2.1.7")
def test_a_sample_without_columns_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CloudFilesError, match="CF_FAILED_TO_INFER_SCHEMA"):
        infer(tmp_path, "no json\n", cf_format="json")


@pytest.mark.rule("2.1.2")
def test_the_sample_is_the_newest_files_up_to_both_limits() -> None:
    files = [FileStatus(str(n), str(n), 10, n) for n in range(5)]
    assert [s.key for s in sample_files(files, max_files=3, max_bytes=100)] == ["2", "3", "4"]
    assert [s.key for s in sample_files(files, max_files=9, max_bytes=20)] == ["3", "4"]


@pytest.mark.rule("2.4.1", "2.4.3")
def test_versions_only_grow_and_the_first_writer_wins(tmp_path: Path) -> None:
    first, second = SchemaStore(str(tmp_path)), SchemaStore(str(tmp_path))
    assert first.latest() is None
    assert first.add((schema_of(a="long"), schema_of(p="integer")))
    numbers = first.numbers
    second.numbers = list  # type: ignore[method-assign]  # it listed before the other wrote
    assert not second.add((schema_of(b="long"), StructType()))
    assert numbers() == [0]
    assert first.latest() == (schema_of(a="long"), schema_of(p="integer"))
    assert [path.name for path in (tmp_path / "_schemas").iterdir()] == ["0"]


def test_a_version_grows_from_the_one_that_its_writer_has_read(tmp_path: Path) -> None:
    """Two tasks of a batch find new fields: the second one must not add what grew from an older version."""
    first, second = SchemaStore(str(tmp_path)), SchemaStore(str(tmp_path))
    first.add((schema_of(a="long"), StructType()))
    assert first.latest() == second.latest()
    assert first.add((schema_of(a="long", b="long"), StructType()))
    assert not second.add((schema_of(a="long", c="long"), StructType()))
    assert second.latest() == (schema_of(a="long", b="long"), StructType())
    assert second.add((schema_of(a="long", b="long", c="long"), StructType()))
    assert second.add((schema_of(a="long", b="long", c="long", d="long"), StructType()))
    assert first.numbers() == [0, 1, 2, 3]


def test_a_damaged_version_is_named(tmp_path: Path) -> None:
    SchemaStore(str(tmp_path)).add((schema_of(a="long"), StructType()))
    (tmp_path / "_schemas" / "1").write_text("v1\n{")
    with pytest.raises(CloudFilesError, match=r"CF_INVALID_STORED_SCHEMA.*_schemas/1"):
        SchemaStore(str(tmp_path)).latest()


@pytest.mark.rule("5.2.1", "5.2.3", "5.2.4")
def test_partition_columns_by_layout_by_option_and_not_at_all() -> None:
    paths = ["/y=2024/k=a/f", "/y=2025/k=2/f"]
    json = {"cloudFiles.format": "json"}
    assert infer_partition_schema(paths, Options.of(json), None).simpleString() == "struct<y:int,k:string>"
    assert infer_partition_schema([*paths, "/z=1/f"], Options.of(json), None).simpleString() == "struct<>"
    assert infer_partition_schema(["/y=--5/f"], Options.of(json), None).simpleString() == "struct<y:string>"
    for option, expected in (("y,day", "struct<y:int,day:string>"), ("", "struct<>")):
        options = Options.of({**json, "cloudFiles.partitionColumns": option})
        assert infer_partition_schema(paths, options, None).simpleString() == expected
    assert (
        infer_partition_schema(paths, Options.of(json), schema_of(a="long", y="string")).simpleString()
        == "struct<y:string>"
    )


@pytest.mark.rule("1.5")
def test_options_of_json_inference(tmp_path: Path) -> None:
    typed = {"cf_format": "json", "cf_inferColumnTypes": "true"}
    text = '{"a":1.10,"b":0.001,"c":1e3,"d":12345678901234567890,"t":"2024-01-01T10:00:00Z","n":null}\n'
    assert infer(tmp_path, text, prefersDecimal="true", **typed) == (
        "struct<a:decimal(3,2),b:decimal(3,3),c:double,d:decimal(20,0),n:string,t:string>"
    )
    dropped = infer(tmp_path, text, inferTimestamp="true", dropFieldIfAllNull="true", **typed)
    assert dropped == "struct<a:double,b:double,c:double,d:decimal(20,0),t:timestamp>"
    strings = infer(tmp_path, text, primitivesAsString="true", **typed)
    assert strings == "struct<a:string,b:string,c:string,d:string,n:string,t:string>"
    assert (
        infer(tmp_path, '{"a":1,"n":null}\n', cf_format="json", dropFieldIfAllNull="true")
        == "struct<a:string>"
    )
