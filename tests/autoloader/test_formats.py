"""Every format on real Spark: one query into one table, and against Spark's own batch readers (AL-2.2)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import Any

import fastavro
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyspark.sql import functions as F

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.schema.schema_inference import infer_schema
from tests.autoloader.entry_points import ENTRY_POINTS, read_by
from tests.autoloader.reader_harness import rows_of


def put_avro(path: Path) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
    with path.open("wb") as stream:
        fastavro.writer(stream, fastavro.parse_schema(schema), [{"a": 1}])


def put_excel(path: Path) -> None:
    workbook = openpyxl.Workbook()
    for row in (["a"], [1]):
        workbook.active.append(row)
    workbook.save(path)


WRITERS: dict[str, Callable[[Path], object]] = {
    "json": lambda path: path.write_text('{"a": 1}\n'),
    "csv": lambda path: path.write_text("a\n1\n"),
    "xml": lambda path: path.write_text("<r><row><a>1</a></row></r>"),
    "text": lambda path: path.write_text("1\n"),
    "binaryFile": lambda path: path.write_bytes(b"1"),
    "parquet": lambda path: pq.write_table(pa.table({"a": pa.array([1], pa.int32())}), path),
    "orc": lambda path: orc.write_table(pa.table({"a": pa.array([1], pa.int32())}), path),
    "avro": put_avro,
    "excel": put_excel,
}


@pytest.mark.rule("2.2", "5.1", "5.2.5")
@pytest.mark.parametrize(
    "names",
    [("xml", "avro", "orc", "binaryFile"), pytest.param(tuple(WRITERS), marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_every_format_in_one_query_with_its_metadata_and_partitions(landing, names: tuple[str, ...]) -> None:
    sources = []
    for name in names:
        path = landing.folder / name / "p=7" / f"file.{name}"
        path.parent.mkdir(parents=True)
        WRITERS[name](path)
        schema = "a int, p int" if name == "orc" else None
        df = landing.stream(
            schema,
            landing.folder / name,
            format=name,
            rowTag="row",
            headerRows="1",
            cf_schemaLocation=f"{landing.schemas}/{name}",
            **({"cf_schemaEvolutionMode": "none"} if name == "excel" else {}),
        )
        value = {"text": "value", "binaryFile": "cast(content as string)"}.get(name, "a")
        columns = [
            F.lit(name).alias("f"),
            F.expr(f"cast({value} as string)").alias("v"),
            "p",
            "_metadata.file_name",
        ]
        rescues = name not in ("text", "binaryFile", "orc", "excel")
        assert ("_rescued_data" in df.columns) is rescues
        sources.append(df.select(*columns, (F.col("_metadata.file_size") > 0).alias("sized")))
    landing.ingest(reduce(lambda one, other: one.union(other), sources))
    assert landing.rows() == sorted([(n, "1", 7, f"file.{n}", True) for n in names], key=repr)


def in_rows(body: str) -> str:
    return f"<rows>{body}</rows>"


XML = [
    in_rows("<row><a>1</a><b>x</b></row><row><a>2</a><c/></row>"),
    in_rows('<row id="1"><a k="v">5</a><b>t</b></row>'),
    in_rows("<row><a><b>1</b><c>x</c></a></row>"),
    in_rows("<row><a>1</a><a>2</a></row><row><a>3</a></row>"),
    in_rows("<row><a><![CDATA[x < y]]></a><b>x &amp; y &#65;</b></row>"),
    in_rows("<row><a>1</a><b>1.5</b><c>true</c><d>x</d></row><row><a>x</a><b>2</b><c>false</c></row>"),
    in_rows("<row><a><b>1</b></a><a><b>2</b><c>x</c></a></row>"),
    '<?xml version="1.0"?><!DOCTYPE rows><rows><row><a>1</a></row></rows>',
]
XML_GIVEN = [
    ("a int, b string", in_rows("<row><a>1</a><b>t</b></row><row><a>2</a><b> t </b></row>")),
    ("a array<int>", in_rows("<row><a>1</a><a>2</a></row><row><a>3</a></row><row/>")),
    ("a struct<b:int,_k:string>", in_rows('<row><a k="v"><b>1</b></a></row>')),
    ("a struct<_VALUE:int,_k:string>", in_rows('<row><a k="v">5</a></row>')),
    ("a int, xs_any string", in_rows('<row k="v"><a>1</a><b>2</b><c>3</c></row>')),
    (
        "a int, xs_any array<string>",
        in_rows("<row><b>1</b><a>1</a><c> <d>2</d> </c><b/><xs_any>3</xs_any>t</row><row><a>2</a></row>"),
    ),
    ("s struct<a:int,xs_any:array<string>>", in_rows("<row><s><a>1</a><b>2</b></s><c>3</c></row>")),
    (
        "a boolean, b double, c decimal(5,2), d date, e timestamp",
        in_rows("<row><a>true</a><b>NaN</b><c>1.25</c><d>2024-01-02</d><e>2024-01-02T03:04:05</e></row>"),
    ),
]


def plain(rows: list[dict[str, Any]]) -> list[Any]:
    def one(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: one(item) for key, item in value.items()}
        if isinstance(value, float) and math.isnan(value):
            return "NaN"
        return value.replace(tzinfo=None) if isinstance(value, datetime) else value

    return [one(row) for row in rows]


@pytest.mark.rule("2.2", "1.5")
def test_xml_is_inferred_and_read_as_spark_reads_it(spark, tmp_path: Path) -> None:
    for number, text in enumerate(XML):
        path = tmp_path / f"{number}.xml"
        path.write_text(text)
        df = spark.read.format("xml").option("rowTag", "row").load(str(path))
        options = Options.of(
            {"cloudFiles.format": "xml", "rowTag": "row", "cloudFiles.inferColumnTypes": "true"}
        )
        schema = infer_schema([FileStatus("k", str(path), 1, 1)], options)
        assert schema.simpleString() == df.schema.simpleString(), text
        expected = [row.asDict(recursive=True) for row in df.collect()]
        assert rows_of([path], schema, cf_format="xml", rowTag="row") == expected, text


@pytest.mark.rule("1.5", "4.5.3")
def test_xml_of_a_given_schema_is_read_as_spark_reads_it(spark, tmp_path: Path) -> None:
    for number, (ddl, text) in enumerate(XML_GIVEN):
        path = tmp_path / f"{number}.xml"
        path.write_text(text)
        df = spark.read.format("xml").option("rowTag", "row").schema(f"{ddl}, _corrupt_record string")
        loaded = df.load(str(path))
        expected = [row.asDict(recursive=True) for row in loaded.cache().collect()]
        found = rows_of([path], loaded.schema, cf_format="xml", rowTag="row")
        assert plain(found) == plain(expected), ddl


@pytest.mark.rule("1.5")
def test_text_and_binary_files_are_read_as_spark_reads_them(spark, tmp_path: Path) -> None:
    path = tmp_path / "a b.txt"
    path.write_bytes(b"a\nb\r\nc\rd\n\ne\n")
    for options in ({}, {"wholeText": "true"}, {"lineSep": "\r"}):
        df = spark.read.format("text").options(**options).load(str(path))
        found = rows_of([path], df.schema, cf_format="text", **options)
        assert [row["value"] for row in found] == [row.value for row in df.collect()], options
    df = spark.read.format("binaryFile").load(str(path))
    assert plain(rows_of([path], df.schema, cf_format="binaryFile")) == plain([df.first().asDict()])


@pytest.mark.rule("1.5")
def test_the_bytes_of_texts_are_those_that_spark_reads(spark, tmp_path: Path) -> None:
    """Text that is not UTF-8 stays as it is, byte order marks and empty files are read as in Spark."""
    contents = [b"", b"\xef\xbb\xbfx\n", b"\xef\xbb\xbf", b"x\xfcy|z", "é|ü".encode("utf-16"), b"|\x80a\r\n|"]
    settings = [{}, {"wholetext": "true"}, {"lineSep": "|"}, {"encoding": "iso-8859-1"}]
    settings.append({"encoding": "windows-1252", "lineSep": "€"})
    for number, data in enumerate(contents):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(data)
        for options in settings:
            lines = spark.read.format("text").options(**options).load(str(path))
            expected = lines.selectExpr("hex(cast(value AS BINARY))")
            named = "".join(f", {key} => '{value}'" for key, value in options.items())
            found = spark.sql(
                f"SELECT hex(cast(value AS BINARY)) FROM read_files('{path}', format => 'text'{named})"
            )
            assert found.collect() == expected.collect(), (data, options)
        expected = spark.read.format("binaryFile").load(str(path)).select("length", "content")
        found = spark.sql(f"SELECT length, content FROM read_files('{path}', format => 'binaryFile')")
        assert found.collect() == expected.collect(), data


@pytest.mark.rule("1.5")
def test_every_entry_point_keeps_the_bytes_of_texts(spark, tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"x\xfcy\n\n\x80\n")
    options = {"encoding": "iso-8859-1"}
    for entry in ENTRY_POINTS:
        rows = read_by(spark, entry, path, "text", options).selectExpr("hex(cast(value AS BINARY)) AS h")
        # `read_by` brings the rows of tables through Python, which replaces what is not UTF-8.
        replaced = ["", "78EFBFBD79", "EFBFBD"]
        expected = ["", "78FC79", "80"] if entry == "read_files" else replaced
        assert sorted(row.h for row in rows.collect()) == expected, entry


@pytest.mark.parametrize("codec", ["gzip", "bzip2", "deflate", "snappy"])
def test_files_that_spark_packs_are_unpacked(spark, tmp_path: Path, codec: str) -> None:
    lines = spark.range(3, numPartitions=1).selectExpr("repeat(cast(id AS string), 200000) AS value")
    lines.write.option("compression", codec).text(str(tmp_path / "out"))
    (path,) = (tmp_path / "out").glob("part*")
    found = rows_of([path], lines.schema, cf_format="text")
    assert [row["value"] for row in found] == [str(n) * 200_000 for n in range(3)]


@pytest.mark.rule("2.2")
def test_orc_that_spark_writes_is_read_as_spark_reads_it(spark, tmp_path: Path) -> None:
    df = spark.sql(
        "SELECT id, cast(id AS int) i, cast(id AS decimal(10,2)) d, date'2024-01-02' day, "
        "timestamp_ntz'2024-01-02 03:04:05' n, timestamp'2024-01-02 03:04:05.123456' t, "
        "array(named_struct('x', id)) l, if(id = 1, null, 'text') s, id = 0 b FROM range(3)"
    )
    df.coalesce(1).write.orc(str(tmp_path / "out"))
    (path,) = (tmp_path / "out").glob("part*")
    back = spark.read.schema(df.schema).orc(str(path))
    expected = [row.asDict(recursive=True) for row in back.collect()]
    assert plain(rows_of([path], df.schema, cf_format="orc")) == plain(expected)


@pytest.mark.rule("2.2")
@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2", "xz", "zstandard"])
def test_avro_that_javas_own_library_writes_is_read(spark, tmp_path: Path, codec: str) -> None:
    """Spark's Avro reader is a jar of its own; the library below it comes with Spark."""
    avro, jvm = spark._jvm.org.apache.avro, spark._jvm
    fields = [
        {"name": "a", "type": "long"},
        {"name": "b", "type": ["null", "string"]},
        {"name": "m", "type": {"type": "map", "values": {"type": "array", "items": "double"}}},
        {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}},
        {"name": "t", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    ]
    schema = avro.Schema.Parser().parse(json.dumps({"type": "record", "name": "R", "fields": fields}))
    path = tmp_path / "a.avro"
    writer = avro.file.DataFileWriter(avro.generic.GenericDatumWriter(schema))
    writer.setCodec(avro.file.CodecFactory.fromString(codec))
    writer.create(schema, jvm.java.io.File(str(path)))
    reader = avro.generic.GenericDatumReader(schema)
    for n in range(3):
        text = f'{{"a":{n},"b":{{"string":"é{n}"}},"m":{{"k":[0.5]}},"d":"\\u0004\\u00d2","t":{n}}}'
        writer.append(reader.read(None, avro.io.DecoderFactory.get().jsonDecoder(schema, text)))
    writer.close()
    inferred = infer_schema([FileStatus("k", str(path), 1, 1)], Options.of({"cloudFiles.format": "avro"}))
    assert inferred.simpleString() == (
        "struct<a:bigint,b:string,m:map<string,array<double>>,d:decimal(4,2),t:timestamp>"
    )
    found = rows_of([path], inferred, cf_format="avro")
    assert [(row["a"], row["b"], row["m"], str(row["d"]), row["t"].microsecond) for row in found] == [
        (n, f"é{n}", [("k", [0.5])], "12.34", n) for n in range(3)
    ]
