"""FORMAT_OPTIONS: each option of the table reads the rows of Spark's batch reader, or is refused as there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from lakeward.autoloader.options.option_table import FORMAT_ROWS
from lakeward.copy_into.request import CopyIntoRequest
from lakeward.copy_into.source_files import open_source
from lakeward.copy_into.statement import translate_errors
from lakeward.errors import SqlError
from lakeward.sql import CopyInto
from tests.copy_into.conftest import Loads
from tests.copy_into.test_copy_into import failed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = {
    "csv": (
        "id,name,amount,day,ts\n"
        '1,"a b",1.5,2024-01-02,2024-01-02T03:04:05\n'
        "2, x ,NaN,2024-02-03,2024-01-02T03:04:05.123\n"
        '3,"q""uo",Inf,,\n#c,com,1,2024-01-01,2024-01-01\n4,"",-Inf,bad,x\n5,a"b"c,7\n'
        '6,"a"x,8,2024-01-01,2024-01-01T00:00:00,extra\n7,aaaaaaaaaaaaaaaaaaaaaaaaa,,,\n'
    ),
    "json": (
        '{"id":1,"name":"a","amount":1.5,"day":"2024-01-02","n":{"x":1,"y":null},"l":[1,2]}\n'
        '{"id":2,"name":null,"amount":Infinity,"big":12345678901234567890}\n'
        '{"id":3,"amount":2,"n":{"x":2},"e":null}\n{bad\n'
        '{\'id\':4}\n{id:5, name:null}\n{"id":06}\n{"id":7 /* c */}\n'
        '{"id":8,"name":"a\\qb"}\n{"id":9,"name":"a\tb"}\n{"id":10,"amount":NaN}\n'
    ),
    "xml": (
        '<rows><row id="1"><name> a </name><v>1.5</v><d>2024-01-02</d><t>2024-01-02T03:04:05</t></row>'
        '<row id="2"><name x="y">b</name><v>NaN</v><w>null</w></row>'
        '<row xmlns="urn:r"><name/><n:q xmlns:n="urn:n">5</n:q></row></rows>'
    ),
    "text": "one\ntwo\r\nthree;four\n\nfive",
}
BASE = {"csv": {"header": "true", "inferSchema": "true"}, "xml": {"rowTag": "row"}}
BOOL = ("true", "false", "x")
RATIOS = ("1", "1.5", "0", "-1", "x")
VALUES: dict[str, tuple[str, ...]] = {
    "mode": ("permissive", "DROPMALFORMED", "FAILFAST", "foo", ""),
    "columnNameOfCorruptRecord": ("_bad",),
    "dateFormat": ("yyyy-MM-dd", "dd/MM/yyyy"),
    "timestampFormat": ("yyyy-MM-dd'T'HH:mm:ss",),
    "timestampNTZFormat": ("yyyy-MM-dd'T'HH:mm:ss",),
    "timeZone": ("Europe/Paris",),
    "locale": ("de-DE",),
    "encoding": ("ISO-8859-1", "bogus"),
    "charset": ("ISO-8859-1", "bogus"),
    "lineSep": ("\n", "", "5"),
    "samplingRatio": RATIOS,
    "sep": (";", "||", ""),
    "delimiter": (";", "||"),
    "quote": ("'", "", "ab"),
    "escape": ('"', "", "ab"),
    "charToEscapeQuoteEscaping": ("x", "ab"),
    "comment": ("#", "ab"),
    "nullValue": ("a", "1"),
    "emptyValue": ("E",),
    "nanValue": ("2",),
    "positiveInf": ("Infinity",),
    "negativeInf": ("x",),
    "maxColumns": ("20480", "6", "5", "1", "0", "-1", "x"),
    "maxCharsPerColumn": ("-1", "25", "24", "0", "-2", "x"),
    "unescapedQuoteHandling": (
        *("STOP_AT_DELIMITER", "stop_at_closing_quote", "SKIP_VALUE", "RAISE_ERROR", "foo"),
    ),
    "rowTag": ("name", "", "w"),
    "rowValidationXSDPath": (),
    "attributePrefix": ("@",),
    "valueTag": ("v", ""),
    "wildcardColName": ("z",),
    "avroSchema": ('{"type":"record","name":"r","fields":[{"name":"id","type":"long"}]}', "bad"),
    "datetimeRebaseMode": ("CORRECTED", "EXCEPTION"),
    "int96RebaseMode": ("LEGACY",),
    "recursiveFieldMaxDepth": ("-1", "3", "15", "16", "x"),
}
# Options that Spark's batch readers do not have, or that have no counterpart there.
DATABRICKS_ONLY = {"badRecordsPath", "skipRows", "failOnUnknownFields", "parserCaseSensitive", "mergeSchema"}
# Spark refuses these encodings for reasons of its own; Databricks' documentation names no limit.
LENIENT = {("json", "encoding", "ISO-8859-1"), ("json", "charset", "ISO-8859-1")}
# Spark reads a text of unknown encoding as UTF-8; the other formats refuse it.
STRICT = {("text", "encoding", "bogus"), ("text", "charset", "bogus")}
# COPY INTO of CSV files has no such column.
UNSUPPORTED = {("csv", "columnNameOfCorruptRecord", "_bad")}
# Spark tries dates that do not fit as timestamps, and reads timestamps as dates.
UNSETTLED = {
    ("xml", "dateFormat", "dd/MM/yyyy"),
    ("xml", "preferDate", "false"),
    ("xml", "inferSchema", "false"),
}
UNSETTLED |= {("xml", "rowTag", "w"), ("xml", "rowTag", "name"), ("json", "lineSep", "5")}
# NaN is no decimal to Spark, and makes a record malformed.
UNSETTLED |= {("json", "prefersDecimal", "true")}

Rows = tuple[dict[str, str], list[str]]


def cases(file_format: str) -> Iterator[tuple[str, str]]:
    """Yield each option of a format with each of its values."""
    for row in FORMAT_ROWS:
        if file_format in row.formats and row.key not in DATABRICKS_ONLY and row.key != "singleVariantColumn":
            for value in VALUES[row.key] if row.kind != "bool" else BOOL:
                if not {(file_format, row.key, value)} & (LENIENT | STRICT | UNSUPPORTED | UNSETTLED):
                    yield row.key, value


def copied(spark: SparkSession, file_format: str, folder: Path, options: dict[str, str]) -> Rows | None:
    """Return types and rows that COPY INTO loads, None if it refuses the files."""
    request = request_of(folder, file_format, {**options, "mergeSchema": "true"})
    try:
        with translate_errors(str(folder)):
            source = open_source(spark, request)
            return content(source.rows(spark, source.new_files(frozenset()), None))
    except SqlError:
        return None


def request_of(
    folder: Path, file_format: str = "JSON", options: dict[str, str] | None = None
) -> CopyIntoRequest:
    command = CopyInto(
        target=["t"],
        by_position=False,
        columns=None,
        source=str(folder),
        select=None,
        file_format=file_format.upper(),
        format_options=options or {},
    )
    return CopyIntoRequest.of(command)


def read(spark: SparkSession, file_format: str, folder: Path, options: dict[str, str]) -> Rows | None:
    """Return types and rows of the batch reader, None if it refuses the files."""
    try:
        return content(spark.read.format(file_format).options(**options).load(str(folder)))
    except (PySparkException, Py4JJavaError):
        return None


def content(frame: Any) -> Rows:
    names = sorted(frame.columns)
    rows = frame.select(*(f"`{name}`" for name in names)).collect()
    return dict(frame.dtypes), sorted(repr(tuple(row)) for row in rows)


@pytest.mark.parametrize("file_format", ["csv", "json", "xml", "text", "avro"])
def test_every_option_reads_and_refuses_what_the_batch_reader_does(
    spark: SparkSession, tmp_path: Path, file_format: str
) -> None:
    folder = tmp_path / "files"
    if file_format == "avro":
        spark.range(3).coalesce(1).write.format("avro").save(str(folder))
    else:
        folder.mkdir()
        (folder / f"a.{file_format}").write_text(FILES[file_format])
    differing = {}
    for key, value in cases(file_format):
        options = {**BASE.get(file_format, {}), key: value}
        found = copied(spark, file_format, folder, options)
        expected = read(spark, file_format, folder, options)
        if found != expected:
            differing[key, value] = found, expected
    assert differing == {}


CONDITIONS = [
    ("csv", {"maxCharsPerColumn": "5"}, "MALFORMED_CSV_RECORD"),
    ("csv", {"maxColumns": "4"}, "MALFORMED_CSV_RECORD"),
    ("csv", {"unescapedQuoteHandling": "RAISE_ERROR"}, "MALFORMED_CSV_RECORD"),
    ("csv", {"unescapedQuoteHandling": "BACK_TO_DELIMITER"}, "CF_UNSUPPORTED_OPTION"),
    ("csv", {"samplingRatio": "0"}, "CF_INVALID_OPTION_VALUE"),
    ("json", {"mergeSchema": "x"}, "CF_INVALID_OPTION_VALUE"),
    ("avro", {"recursiveFieldMaxDepth": "16"}, "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE"),
]


@pytest.mark.parametrize(("file_format", "options", "condition"), CONDITIONS)
def test_refusals_have_a_condition_and_load_nothing(
    loads: Loads, file_format: str, options: dict[str, str], condition: str
) -> None:
    loads.create("id STRING")
    if file_format == "avro":
        loads.spark.range(3).coalesce(1).write.format("avro").mode("append").save(str(loads.folder))
    else:
        loads.put(f"a.{file_format}", text=FILES[file_format])
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    clause = f"FORMAT_OPTIONS ({given})"
    assert failed(lambda: loads.copy(clause, file_format=file_format, mergeSchema="true")) == condition
    assert loads.rows() == []


@pytest.mark.parametrize(
    ("mode", "columns"),
    [
        ("PERMISSIVE", {"id", "_corrupt_record"}),
        ("unknown", {"id", "_corrupt_record"}),
        ("DROPMALFORMED", {"id"}),
    ],
)
def test_malformed_json_is_kept_in_a_column_or_dropped(loads: Loads, mode: str, columns: set[str]) -> None:
    """Rows of nulls were loaded for malformed records, without an error."""
    loads.create("")
    loads.put("a.json", text='{"id": 1}\n{bad\n')
    loads.copy(f"FORMAT_OPTIONS ('mode' = '{mode}')", mergeSchema="true")
    assert set(loads.spark.table(loads.table).columns) == columns
    assert len(loads.rows()) == len(columns)


def test_a_load_into_given_columns_refuses_malformed_json(loads: Loads) -> None:
    loads.create("id BIGINT")
    loads.put("a.json", text='{"id": 1}\n{bad\n')
    assert failed(loads.copy) == "COPY_INTO_SCHEMA_MISMATCH_WITH_TARGET_TABLE"
    assert loads.rows() == []


GLOBS = {
    "*.json": {"a", "b", "c1"},
    "{a,b}.json": {"a", "b"},
    "[ab].json": {"a", "b"},
    "[!a].json": {"b"},
    "c?.json": {"c1"},
    "*/*.json": {"d"},
    "nope*": set(),
    "[a": None,
    "{a": None,
    "{a}.json{": None,
    "[a].json[": None,
    "\\[a": set(),
    "[{]*": set(),
}


@pytest.mark.parametrize("spelling", ["PATTERN = '{}'", "FORMAT_OPTIONS ('pathGlobFilter' = '{}')"])
def test_globs_load_the_files_that_they_match_or_are_refused(loads: Loads, spelling: str) -> None:
    """A bracket that is not closed matched nothing, without an error; Spark's readers refuse it."""
    has_folders = spelling.startswith("PATTERN")
    for name in ("a", "b", "c1", "sub/d") if has_folders else ("a", "b", "c1"):
        loads.put(f"{name}.json", {"s": name.rpartition("/")[2]})
    for glob, expected in GLOBS.items():
        if "/" in glob and not has_folders:
            continue
        rest = spelling.format(glob.replace("\\", "\\\\"))
        loads.table = f"{loads.table}_"
        loads.create("s STRING")
        if expected is None:
            assert failed(lambda given=rest: loads.copy(given)) == "CF_INVALID_GLOB", rest
        else:
            loads.copy(rest)
            assert {row[0] for row in loads.rows()} == expected, rest


@pytest.mark.parametrize("names", ["('')", "('a.json', ' ')"])
def test_an_empty_name_of_a_file_is_refused(loads: Loads, names: str) -> None:
    """It loaded all files of the source."""
    loads.create()
    loads.put("a.json", {"id": 1})
    assert failed(lambda: loads.copy(f"FILES = {names}")) == "COPY_INTO_SYNTAX_ERROR"
    assert loads.rows() == []
