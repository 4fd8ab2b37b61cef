"""Types that are inferred from texts, and values in every spelling, against Spark's batch readers."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.schema.schema_inference import infer_schema
from tests.autoloader.entry_points import ENTRY_POINTS, read_by
from tests.autoloader.reader_harness import rows_of

# fmt: off
TIMES = [
    "2024-01-02", "2024-1-2", "2024-01", "2024", "02.01.2024", "02/01/2024 10:20", "20240102",
    "Jan 2, 2024", "2024-01-02 10:20:30", "2024-01-02T10:20:30Z", "2024-01-02T10:20", "2024-01-02T10",
    "2024-01-02 10 +01:00", "2024-01-02 10:20:30.123456", "2024-01-02 10:20:30.1234567",
    "2024-01-02 10:20:30.", "2024-01-02 10:20:", "2024-01-02 +01:00", "2024-01-02T", "2024-01-02T10Z",
    "2024-01-02T10:20Z", "2024-01-02 x", "2024-13-01", "2024-01-02 10:20:30 Europe/Paris",
    "2024-01-02T10:20:30+1", "2024-01-02T10:20:30+1:2", "2024-01-02 24:00", "2024-01-02T10:20:30UTC+1",
    "2024-01-02T10:20:30 PST", "2024-01-02T10:20:30 ACT", "2024-01-02t10:20", "+2024-01-02",
    "02024-01-02", "10:20", "T10:20", "T10", "1:2:3.5", "10:20Z", "10:20:30Z", "T10:",
]
NUMBERS = [
    "1,234", "1,234.5", "1,", "+5", "1e5", "1E-3", ".5", "5.", "0x10", "1d", "1_000", "NaN", "nan",
    "Inf", "-", "--1", "TRUE", "True", "t", "1234567890123456789012", "1.0", "9" * 41, "2147483648",
    "1e400", "00012", "-0", "1e", "$5", "5%", "1L", "1.5e3", "123.000", "-2147483649",
    "9223372036854775808", "1,2,3", "\u0661\u0662.\u0665", "1.5e00002",
]
# fmt: on
DATE_OPTIONS: list[dict[str, str]] = [
    {},
    {"dateFormat": "dd.MM.yyyy"},
    {"dateFormat": "MMM d, yyyy"},
    {"timestampFormat": "dd/MM/yyyy HH:mm"},
    {"timestampFormat": "yyyy-MM-dd"},
    {"dateFormat": "dd.MM.yyyy", "timestampFormat": "yyyy-MM-dd'T'HH:mm"},
]
OPTIONS: dict[str, list[dict[str, str]]] = {
    "csv": [*DATE_OPTIONS, {"preferDate": "false"}, {"dateFormat": "dd.MM.yyyy", "preferDate": "false"}],
    # Spark's XML reader infers dates from timestamps without preferDate; the option's page says the opposite.
    "xml": [*DATE_OPTIONS, {"prefersDecimal": "true"}],
    "json": [
        {},
        {"prefersDecimal": "true"},
        {"inferTimestamp": "true"},
        {"inferTimestamp": "true", "timestampFormat": "dd/MM/yyyy HH:mm"},
        {"inferTimestamp": "true", "prefersDecimal": "true"},
        {"primitivesAsString": "true"},
        {"dropFieldIfAllNull": "true"},
    ],
}
# Options that decide on dates and timestamps.
PATTERNS = {
    "csv": {"dateFormat": "dd.MM.yyyy", "timestampFormat": "dd/MM/yyyy HH:mm"},
    "xml": {"dateFormat": "dd.MM.yyyy", "timestampFormat": "dd/MM/yyyy HH:mm"},
    "json": {"inferTimestamp": "true", "timestampFormat": "dd/MM/yyyy HH:mm", "prefersDecimal": "true"},
}
READER = {"csv": {"header": "true"}, "xml": {"rowTag": "row"}, "json": {}}
CASES = [(form, options) for form, each in OPTIONS.items() for options in each]
TYPES = ["int", "bigint", "double", "decimal(10,2)", "boolean", "date", "timestamp", "timestamp_ntz"]


def write_rows(folder: Path, form: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write a file with a record for each row of values."""
    path = folder / f"rows.{form}"
    if form == "csv":
        with path.open("w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([names, *rows])
        return path
    records = [dict(zip(names, row, strict=True)) for row in rows]
    if form == "json":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        cells = (
            "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in record.items())
            for record in records
        )
        path.write_text(f"<rows>{''.join(f'<row>{each}</row>' for each in cells)}</rows>")
    return path


def write_texts(folder: Path, form: str, texts: Sequence[str]) -> Path:
    """Write a file with one record that has a text in each of the columns c0, c1, …"""
    return write_rows(folder, form, [f"c{number}" for number in range(len(texts))], [texts])


def inferred_types(path: Path, form: str, options: dict[str, str]) -> dict[str, str]:
    given = {"cloudFiles.format": form, "cloudFiles.inferColumnTypes": "true", **READER[form], **options}
    return types_of(infer_schema([FileStatus(f"file:{path}", str(path), 1, 1)], Options.of(given)))


def types_of(schema: StructType) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in schema}


def differing_types(
    spark: SparkSession, folder: Path, form: str, options: dict[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the texts of which Spark, then Auto Loader, infer different types."""
    texts = [*TIMES, *NUMBERS, "", "x"]
    path = write_texts(folder, form, texts)
    reader = spark.read.options(inferSchema="true", **READER[form], **options)
    expected = types_of(reader.format(form).load(str(path)).schema)
    found = inferred_types(path, form, options)
    named = {text: (expected.get(f"c{n}"), found.get(f"c{n}")) for n, text in enumerate(texts)}
    return {text: both for text, both in named.items() if both[0] != both[1]}


@pytest.mark.rule("2.2", "1.5")
@pytest.mark.parametrize(("form", "options"), CASES)
def test_types_are_those_of_sparks_inference(
    spark: SparkSession, tmp_path: Path, form: str, options: dict[str, str]
) -> None:
    assert differing_types(spark, tmp_path, form, options) == {}


@pytest.mark.rule("2.2", "1.5")
def test_patterns_of_dates_and_timestamps_give_the_types_of_sparks_inference(
    spark: SparkSession, tmp_path: Path
) -> None:
    """All formats in one test, of which the default lane runs each."""
    for form, options in PATTERNS.items():
        assert differing_types(spark, tmp_path, form, options) == {}, form
    # They are not all strings.
    assert inferred_types(write_texts(tmp_path, "csv", ["02.01.2024"]), "csv", PATTERNS["csv"]) == {
        "c0": "date"
    }


@pytest.mark.rule("2.2", "1.5")
@pytest.mark.parametrize(("entry", "form"), list(product(ENTRY_POINTS, READER)))
def test_every_entry_point_infers_types_by_the_patterns(
    spark: SparkSession, tmp_path: Path, entry: str, form: str
) -> None:
    options = {key: value for key, value in PATTERNS[form].items() if key != "prefersDecimal"}
    path = write_texts(tmp_path, form, ["02.01.2024", "02/01/2024 10:20", "1.5", "x"])
    reader = spark.read.options(inferSchema="true", **READER[form], **options).format(form)
    expected = reader.load(str(path))
    found = read_by(spark, entry, path, form, {**READER[form], **options})
    assert types_of(found.schema) == types_of(expected.schema)
    assert found.collect() == expected.collect()


@pytest.mark.rule("1.5")
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_reads_the_rows_after_a_quote_in_a_value(
    spark: SparkSession, tmp_path: Path, entry: str
) -> None:
    path = tmp_path / "pipes.csv"
    path.write_text('n,size,text\n1,5" pipe,"a\nb"\n2,6" pipe,c\n3,7,d\n')
    options = {"header": "true", "multiLine": "true"}
    expected = spark.read.options(inferSchema="true", **options).csv(str(path)).collect()
    assert len(expected) == 3
    assert sorted(read_by(spark, entry, path, "csv", options).collect()) == sorted(expected)


@pytest.mark.rule("2.2")
@pytest.mark.parametrize("prefers_date", [True, False])
def test_xml_without_preferred_dates_has_timestamps(tmp_path: Path, prefers_date: bool) -> None:
    path = write_texts(tmp_path, "xml", ["2024-01-02", "2024-01-02 10:20:30"])
    types = inferred_types(path, "xml", {"preferDate": str(prefers_date).lower()})
    assert types == {"c0": "date" if prefers_date else "timestamp", "c1": "timestamp"}


@pytest.mark.rule("2.2")
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1E400"], "double"),
        (["1E400", "1"], "double"),
        (['""', "1"], "bigint"),
        (['""', '""'], "string"),
        (['[""]', "[1]"], "array<bigint>"),
        (['{"a":1E400}', '{"a":""}'], "struct<a:double>"),
        (['{"a":""}', '{"a":true}'], "struct<a:boolean>"),
    ],
)
def test_json_values_without_a_type_and_out_of_range(
    spark: SparkSession, tmp_path: Path, values: list[str], expected: str
) -> None:
    """Empty texts have no type; a number that is too large for DOUBLE is infinite."""
    path = tmp_path / "values.json"
    path.write_text("".join(f'{{"v":{value}}}\n' for value in values))
    assert inferred_types(path, "json", {}) == {"v": expected}
    assert spark.read.json(str(path)).schema["v"].dataType.simpleString() == expected


# Elements of one name that differ in form, and what a string holds of elements within.
XML_RECORDS = {
    "a text and an element with attributes": '<row><a>true</a><a k="1"/></row>',
    "a text and an element with elements": "<row><c>-3</c></row><row><c><d>x</d><e/></c></row>",
    "a text and an element with both": '<row><c>5</c></row><row><c k="1">7</c></row>',
    "the other way round": '<row><c k="1">7</c></row><row><c>x</c></row>',
    "elements within elements": "<row><a><d>x</d><d><c>1</c></d></a></row>",
    "several texts": "<row><d>true<a>1</a>false</d></row>",
    "the null value": "<row><b>NULL<a>x</a>1.5</b></row><row><c>NULL</c><c>1</c></row>",
    "comments and references": "<row><a>x</a><a><!-- c --><b>&lt;</b> <c><![CDATA[<]]></c></a></row>",
    "empty elements": "<row><a/><a>1</a><b></b></row>",
}


@pytest.mark.rule("2.2", "1.5")
@pytest.mark.parametrize(
    "options", [{}, {"nullValue": "NULL"}, {"excludeAttribute": "true"}, {"valueTag": "v"}]
)
def test_elements_of_different_forms(spark: SparkSession, tmp_path: Path, options: dict[str, str]) -> None:
    given = {"rowTag": "row", **options}
    for number, (name, records) in enumerate(XML_RECORDS.items()):
        path = tmp_path / f"{number}.xml"
        path.write_text(f"<rows>{records}</rows>")
        schema = spark.read.options(**given).xml(str(path)).schema
        assert inferred_types(path, "xml", given) == types_of(schema), name
        expected = spark.read.options(**given).schema(schema).xml(str(path)).collect()
        found = rows_of([path], schema, cf_format="xml", **given)
        assert found == [row.asDict(recursive=True) for row in expected], name


@pytest.mark.rule("3.1")
def test_values_in_every_spelling_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    for form, dtype in product(OPTIONS, TYPES):
        left_out = {"20240102", "9" * 41}  # Years that Python does not have.
        if form == "json" and dtype == "date":
            left_out |= {"+5", "-0"}  # Spark takes small numbers for days since 1970.
        texts = [text for text in (*TIMES, *NUMBERS, *_OTHERS[form]) if text not in left_out]
        if form == "xml" and dtype in ("int", "bigint", "double"):
            texts = ["1,234", "1e5", "1.5", "x"]  # Spark takes the number at the beginning of a text.
        path = write_rows(tmp_path, form, ["k", "v"], enumerate(texts))
        reader = spark.read.format(form).options(**READER[form])
        expected = reader.schema(f"k int, v {dtype}, _corrupt_record string").load(str(path))
        rows = rows_of([path], expected.schema, cf_format=form, **READER[form])
        found = {row["k"]: _plain(row["v"]) for row in rows}
        wanted = {row["k"]: _plain(row["v"]) for row in expected.cache().collect()}
        named = {text: (wanted[n], found[n]) for n, text in enumerate(texts)}
        assert {text: both for text, both in named.items() if both[0] != both[1]} == {}, (form, dtype)


# The spelling of infinity differs by format.
_OTHERS = {"csv": ["Infinity", "+Infinity"], "xml": ["Infinity"], "json": ["+INF", "Infinity"]}


def _plain(value: Any) -> str:
    return repr(value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value)
