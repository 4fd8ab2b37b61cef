"""The readers against Spark's own batch readers on the same files and schema."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lakeward.autoloader.readers import json_fast_path
from tests.autoloader.entry_points import read_by
from tests.autoloader.reader_harness import rows_of

JSON_VALUES = [
    "1",
    "-1",
    "1.0",
    "1e3",
    "2147483648",
    "9223372036854775808",
    "true",
    "null",
    '"1"',
    '"x"',
    '""',
    '"true"',
    '"NaN"',
    '"Infinity"',
    '"INF"',
    '"+INF"',
    "NaN",
    "-Infinity",
    "{}",
    '{"a":1}',
    "[1]",
    "[]",
    '[1,"x"]',
    '{"a":"x","b":2}',
    "1.10",
    "123456789012345678901234567890",
    '"2024-01-01"',
    '"2024-1-1"',
    '"2024-01-01T10:00:00Z"',
    '"2024-01-01T10:00:00.123456+02:00"',
    "1700000000",
    '"aGk="',
    "01",
    "[null]",
    '{"a":null}',
    "1E400",
    "0.1",
    "-0",
    "1e-2",
    '"2024"',
    ".5",
]
JSON_TYPES = ["string", "int", "bigint", "tinyint", "double", "decimal(10,2)", "boolean", "date", "timestamp"]
JSON_TYPES += ["struct<a:int>", "array<int>", "array<string>"]
CSV_LINES = [
    "a,b,c",
    '"a ""b"" c",x,y',
    '"a \\"b\\" c",x,y',
    'a"b,c"d,e',
    '"a"b,c,d',
    '"a,b",c,d',
    '"a\\\\",c,d',
    " a , b , c ",
    '"a" ,b,c',
    ' "a",b,c',
    ",,",
    '"","",x',
    "a,b",
    "a,b,c,d",
    '"a',
    '"a,b,c',
    "a\\,b,c,d",
    '"a""",b,c',
    '"""a",b,c',
    '"x""y,z",b,c',
    "ü,é,😀",
    '"a"",b",c,d',
    '"a" "b",c,d',
    '"ab"c"d",e,f',
    '"a\\""b",c,d',
    '"\\\\\\"x",b,c',
]


def normal(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as text: timestamps without their zone object, floats alike."""
    return [
        repr({k: v.replace(tzinfo=None) if hasattr(v, "tzinfo") else v for k, v in row.items()})
        for row in rows
    ]


@pytest.mark.parametrize("dtype", JSON_TYPES)
def test_json_values_of_every_type(spark, tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "x.json"
    # Spark takes the text "1" for the first day after 1970-01-01, a relic of Spark 1.5; here it is no date.
    values = [value for value in JSON_VALUES if dtype != "date" or value != '"1"']
    path.write_text("".join(f'{{"k":"{n}","v":{value}}}\n' for n, value in enumerate(values)))
    reader = spark.read.schema(f"k string, v {dtype}, _corrupt_record string")
    expected = [row.asDict(recursive=True) for row in reader.json(str(path)).cache().collect()]
    assert normal(rows_of([path], reader.json(str(path)).schema)) == normal(expected)


@pytest.mark.parametrize(
    "options", [{}, {"escape": '"'}, {"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": True}]
)
def test_csv_lines_of_every_kind(spark, tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("".join(f"{line}\n" for line in CSV_LINES))
    reader = spark.read.schema("a string, b string, c string, _corrupt_record string").options(**options)
    expected = [row.asDict() for row in reader.csv(str(path)).cache().collect()]
    assert rows_of([path], reader.csv(str(path)).schema, cf_format="csv", **options) == expected


def test_real_retail_files(spark, data: Path) -> None:
    paths = sorted((data / "retail").glob("*.csv.gz"))[:5]
    with gzip.open(paths[0], "rt") as file:
        names = file.readline().strip().split(",")
    schema = ", ".join(f"`{name}` {'double' if 'Price' in name else 'string'}" for name in names)
    reader = spark.read.schema(schema).option("header", True).option("escape", '"')
    for path in paths:
        expected = [row.asDict() for row in reader.csv(str(path)).collect()]
        assert (
            rows_of([path], reader.csv(str(path)).schema, cf_format="csv", header=True, escape='"')
            == expected
        )


def test_real_wearables_files(spark, data: Path) -> None:
    paths = sorted((data / "wearables" / "daily").iterdir())[:2]
    for path in paths:
        df = spark.read.json(str(path))
        expected = [row.asDict(recursive=True) for row in df.collect()]
        assert rows_of([path], df.schema) == expected


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    "text",
    [
        '{\n "a": 1,\n "b": {"x": [1,\n 2]}\n}\n',
        '[\n{"a": 1},\n{"b": null}\n]',
        '{"a": 1} {"a": 2}',
        '{"a":\n',
        "5",
        "",
    ],
)
def test_documents_over_several_lines(spark, tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    reader = spark.read.schema("a int, b struct<x:array<int>>, _corrupt_record string").option(
        "multiLine", True
    )
    expected = [row.asDict(recursive=True) for row in reader.json(str(path)).cache().collect()]
    assert rows_of([path], reader.json(str(path)).schema, multiLine=True) == expected


# Quotes within values that are not quoted open nothing; one that is not closed takes the rest of the file.
CSV_DOCUMENTS = {
    "values over lines": '1,"a\nb",c\n2,"x\n\n y",z\n',
    "quotes within values": '1,5" pipe,a\n2,6" pipe,b\n3,7,c\n',
    "a quote after blanks": ' "a",5" pipe,x\n1,2,3\n',
    "quotes without an escape": '"a "q" b",c,d\n"e""f",g,h\n1,2,3\n',
    "in a value over lines": '1,"\n"a""b",,1.5\nx,y,z\n1,2,3\n',
    "separators after a quote": '","a"\n\\",x,y\n~,1,z\n',
    "an escape without a quote": 'a,\\"b,c\nd,e,f\n1,2,3\n',
    "escapes in a value over lines": '"a \\"q\\"\nb",c,d\n1,2,3\n',
    "an escape at the end of a value": '"a\\\\",b,c\n1,2,3\n',
    "a quote that is not closed": 'x,"open\nand never closed,1\n2,3,4',
    "a quote alone at the end": '1,2,3\nx,y,"',
    "empty values": '"","",""\n,,\n1,"\n",3\n',
}


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"escape": '"'},
        {"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": True},
        {"unescapedQuoteHandling": "STOP_AT_CLOSING_QUOTE"},
        {"quote": "'"},
    ],
)
def test_csv_records_over_several_lines(spark, tmp_path: Path, options: dict[str, Any]) -> None:
    for number, (name, text) in enumerate(CSV_DOCUMENTS.items()):
        path = tmp_path / f"{number}.csv"
        path.write_text(text)
        reader = spark.read.schema("a string, b string, c string").options(**options, multiLine=True)
        expected = [row.asDict() for row in reader.csv(str(path)).collect()]
        found = rows_of([path], reader.csv(str(path)).schema, cf_format="csv", multiLine=True, **options)
        assert found == expected, name


@pytest.mark.parametrize("smallest", [0, 1 << 30], ids=["whole files", "records"])
@pytest.mark.parametrize(
    "text",
    [
        '{"a":1}{"a":2}\n{"a":3}\n',
        '{"a":1} {"a":2}',
        '{"a":\n1}\n{"a":2}\n',
        '{\n  "a": 1\n}\n{"a":2}\n',
        '{"a":1}\n\n \n{"a":2}\n\n',
        '  {"a":1}  \n\t{"a":2}',
        '[{"a":1},{"a":2}]\n{"a":3}\n',
        '[\n{"a":1},\n{"a":2}\n]\n',
    ],
)
def test_a_line_is_one_record_whatever_else_the_text_would_be(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smallest: int, text: str
) -> None:
    monkeypatch.setattr(json_fast_path, "MIN_BYTES", smallest)
    path = tmp_path / "x.json"
    path.write_text(text)
    reader = spark.read.schema("a int, _corrupt_record string")
    expected = [row.asDict() for row in reader.json(str(path)).cache().collect()]
    assert rows_of([path], reader.json(str(path)).schema) == expected


_NESTED = (
    "c array<struct<a:int,b:date>>, m map<string,struct<a:int,b:date>>, n struct<l:array<struct<a:int>>>"
)
_NESTED_RECORDS = [
    {"c": [{"a": 1, "b": "2024-01-02"}, {"a": "x", "b": "2024-01-02"}]},
    {"c": [{"a": 1, "b": 5.5}, None, {"a": 2, "zz": 1}]},
    {"c": [{"a": [1]}], "m": {"k": {"a": 1, "b": {}}, "l": {"a": True, "b": "2024-01-02"}}},
    {"c": [1], "m": {"k": 1}, "n": {"l": [{"a": "x"}, {"a": 2}]}},
    {"c": [{"a": 1}, "x"], "m": {"k": {"a": 1}, "l": []}, "n": {"l": [{"a": 1}, 2]}},
    {"c": {"a": 1}, "m": [1], "n": {"l": {"a": 1}}},
]


@pytest.mark.rule("1.5")
def test_members_that_do_not_fit_in_arrays_and_maps_of_records(spark, tmp_path: Path) -> None:
    """The other members and records stay, as in Spark; the whole array was NULL."""
    path = tmp_path / "nested.json"
    path.write_text("".join(json.dumps(record) + "\n" for record in _NESTED_RECORDS))
    for schema in (_NESTED, f"{_NESTED}, _corrupt_record string"):
        expected = spark.read.schema(schema).json(str(path)).cache()
        rows = rows_of([path], expected.schema, cf_format="json")
        maps = [{**row, "m": None if row["m"] is None else dict(row["m"])} for row in rows]
        assert maps == [row.asDict(recursive=True) for row in expected.collect()], schema


@pytest.mark.rule("1.5")
def test_every_entry_point_keeps_the_rest_of_an_array(spark, tmp_path: Path) -> None:
    path = tmp_path / "nested.json"
    path.write_text('{"c":[{"a":1,"b":"x"},{"a":"x","b":"y"}]}\n')
    for entry in ("cloudFiles", "read_files", "streaming table"):
        rows = read_by(spark, entry, path, "json", {}, schema="c ARRAY<STRUCT<a: INT, b: STRING>>")
        (row,) = rows.collect()
        assert [item.asDict() for item in row.c] == [{"a": 1, "b": "x"}, {"a": None, "b": "y"}], entry
