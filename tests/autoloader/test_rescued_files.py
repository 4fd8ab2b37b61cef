"""`rescuedDataColumn` and `badRecordsPath` of `spark.read` and `spark.readStream`: formats × entry points.

Oracles: the written values themselves, and for the columns without a rescued value Spark's own reader.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Row, SparkSession

from lakeward.session import condition_of
from tests.lanes import sampled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCHEMA = "id INT, name STRING"
CSV = "id,name\n1,ann\nx,bob\n3,cat,more\n"
JSON = '{"id":1,"name":"ann"}\n{"id":"x","name":"bob"}\n{"id":3,"name":"cat","more":5}\nnot json\n'
XML = "<all><r><id>1</id><name>ann</name></r><r><id>x</id><name>bob</name></r></all>"
OPTIONS: dict[str, dict[str, Any]] = {"csv": {"header": True}, "xml": {"rowTag": "r"}}


def write_files(spark: SparkSession, folder: Path, kind: str) -> str:
    """Write rows of `SCHEMA`, one with a text as id; return the folder."""
    if kind in ("csv", "json", "xml"):
        folder.mkdir()
        (folder / f"a.{kind}").write_text({"csv": CSV, "json": JSON, "xml": XML}[kind])
    else:
        rows = [Row(id="x", name="bob", more=5)]
        spark.createDataFrame(rows).coalesce(1).write.format(kind).save(str(folder))
    return str(folder)


def _by_name(reader: Any, path: str, kind: str) -> DataFrame:
    frame: DataFrame = getattr(reader, kind)(path)
    return frame


ENTRIES: dict[str, Callable[[Any, str, str], Any]] = {
    "load": lambda reader, path, kind: reader.format(kind).load(path),
    "option path": lambda reader, path, kind: reader.format(kind).option("path", path).load(),
    "load with a format": lambda reader, path, kind: reader.load(path, format=kind),
    "method": _by_name,
}
RESCUED = {
    "csv": {"bob": {"id": "x"}, "cat": {"_c2": "more"}},
    "json": {"bob": {"id": "x"}, "cat": {"more": 5}, None: {"_corrupt_record": "not json"}},
    "xml": {"bob": {"id": "x"}},
    "parquet": {"bob": {"id": "x", "more": 5}},
    "avro": {"bob": {"id": "x", "more": 5}},
}


def _view(spark: SparkSession, statement: str, kind: str, options: dict[str, Any]) -> DataFrame:
    given = ", ".join(f"{key} '{value}'" for key, value in {**OPTIONS.get(kind, {}), **options}.items())
    spark.sql(f"{statement} USING {kind} OPTIONS ({given})")
    return spark.table("global_temp.rescued" if "GLOBAL" in statement else "rescued")


VIEWS = (
    f"CREATE OR REPLACE TEMPORARY VIEW rescued ({SCHEMA})",
    f"create or replace temp view `rescued` ({SCHEMA})\n--",
    f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW rescued ({SCHEMA})",
)
CASES = [(kind, entry) for kind in RESCUED for entry in ENTRIES if (kind, entry) != ("avro", "method")]


def rescued(rows: Iterable[Row]) -> dict[str | None, Any]:
    """Return the rescued fields by name of the row, without the path of their file."""
    found = {row["name"]: json.loads(row["_r"]) for row in rows if row["_r"]}
    assert all(fields.pop("_file_path").startswith("file:/") for fields in found.values())
    return found


def _reader(reader: Any, kind: str) -> Any:
    return reader.schema(SCHEMA).options(**OPTIONS.get(kind, {}))


@pytest.mark.parametrize("kind", RESCUED)
@pytest.mark.parametrize("statement", VIEWS)
def test_a_temporary_view_has_the_rescued_column(
    spark: SparkSession, tmp_path: Path, kind: str, statement: str
) -> None:
    path = write_files(spark, tmp_path / "in", kind)
    frame = _view(spark, statement.replace("--", "-- c\n"), kind, {"path": path, "rescuedDataColumn": "_r"})
    assert frame.columns == ["id", "name", "_r"]
    assert rescued(frame.collect()) == RESCUED[kind]


def test_a_temporary_view_exists_once(spark: SparkSession, tmp_path: Path) -> None:
    path = write_files(spark, tmp_path / "in", "json")
    text = f"VIEW once_only USING json OPTIONS (path '{path}', 'rescuedDataColumn' = '_r')"
    spark.sql(f"CREATE TEMPORARY {text}")
    assert "_r" in spark.table("once_only").columns
    with pytest.raises(Exception, match="already exists") as failed:
        spark.sql(f"CREATE TEMPORARY {text}")
    assert condition_of(failed.value) == "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS"
    spark.catalog.dropTempView("once_only")


@pytest.mark.parametrize(("kind", "entry"), CASES)
def test_values_without_a_column_are_in_the_rescued_column(
    spark: SparkSession, tmp_path: Path, kind: str, entry: str
) -> None:
    path = write_files(spark, tmp_path / "in", kind)
    frame = ENTRIES[entry](_reader(spark.read, kind).option("rescuedDataColumn", "_r"), path, kind)
    assert frame.columns == ["id", "name", "_r"]
    assert rescued(frame.collect()) == RESCUED[kind]
    if kind in ("csv", "json"):  # Spark's other readers fail, or lose the rest of the row
        plain = ENTRIES[entry](_reader(spark.read, kind), path, kind)
        assert sorted(map(str, frame.drop("_r").collect())) == sorted(map(str, plain.collect()))


_STREAMED = [case for case in CASES if case[1] in ("load", "method")]


@pytest.mark.parametrize(("kind", "entry"), sampled(_STREAMED, *_STREAMED[::3]))
def test_streams_rescue_the_same_values(spark: SparkSession, tmp_path: Path, kind: str, entry: str) -> None:
    path = write_files(spark, tmp_path / "in", kind)
    frame = ENTRIES[entry](_reader(spark.readStream, kind).option("rescueddatacolumn", "_r"), path, kind)
    table = "main.default.rescued_stream"
    query = frame.writeStream.option("checkpointLocation", str(tmp_path / "check"))
    query.trigger(availableNow=True).toTable(table).awaitTermination()
    rows = spark.table(table).collect()
    spark.sql(f"DROP TABLE {table}")
    assert rescued(rows) == RESCUED[kind]


@pytest.mark.parametrize("kind", ["csv", "json", "xml"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_bad_records_are_in_files_and_not_in_the_result(
    spark: SparkSession, tmp_path: Path, kind: str, entry: str
) -> None:
    path = write_files(spark, tmp_path / "in", kind)
    reader = _reader(spark.read, kind).option("badRecordsPath", str(tmp_path / "bad"))
    frame = ENTRIES[entry](reader, path, kind)
    kept = [(1, "ann"), (3, "cat")] if kind == "json" else [(1, "ann")]
    assert sorted(tuple(row) for row in frame.collect()) == kept
    lines = [line for file in bad_files(tmp_path, "bad_records") for line in file.read_text().splitlines()]
    records = [json.loads(line) for line in lines]
    assert all(record["path"].startswith("file:/") and record["reason"] for record in records)
    assert any("bob" in record["record"] for record in records)
    # Nothing is lost: what is not in the result is in a file.
    assert len(records) + len(kept) == {"csv": 3, "json": 4, "xml": 2}[kind]


def bad_files(folder: Path, kind: str) -> list[Path]:
    """Return the files of one kind below `badRecordsPath`: <time>/<kind>/part-…."""
    return [file for file in (folder / "bad").glob(f"*/{kind}/part-*") if not file.name.startswith(".")]


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "orc", "avro"])
@pytest.mark.parametrize("fault", ["gone", "damaged"])
def test_files_that_cannot_be_read_are_named(
    spark: SparkSession, tmp_path: Path, kind: str, fault: str
) -> None:
    folder = tmp_path / "in"
    spark.range(3).coalesce(1).write.format(kind).save(str(folder))
    broken = folder / f"broken.{kind}{'.gz' if kind in ('csv', 'json') else ''}"
    broken.write_bytes(b"not a file of this format")
    reader = spark.read.schema("id LONG").option("badRecordsPath", str(tmp_path / "bad"))
    frame = reader.format(kind).load(str(folder))
    if fault == "gone":
        broken.unlink()
    assert sorted(row.id for row in frame.collect()) == [0, 1, 2]
    (named,) = bad_files(tmp_path, "bad_files")
    assert json.loads(named.read_text())["path"].endswith(broken.name)


def test_columns_are_inferred_as_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    path = write_files(spark, tmp_path / "in", "csv")
    for options in ({}, {"header": True}, {"header": True, "inferSchema": True}):
        plain = spark.read.options(**options).csv(path)
        frame = spark.read.options(**options).option("rescuedDataColumn", "_r").csv(path)
        assert frame.drop("_r").schema == plain.schema


def test_a_malformed_record_adds_no_column_where_bad_records_have_a_path(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = write_files(spark, tmp_path / "in", "json")
    frame = spark.read.option("badRecordsPath", str(tmp_path / "bad")).json(path)
    assert frame.columns == ["id", "more", "name"]
    assert frame.count() == 3


def test_the_column_is_before_the_partition_columns(spark: SparkSession, tmp_path: Path) -> None:
    for day in (1, 2):
        folder = tmp_path / "in" / f"day={day}"
        folder.mkdir(parents=True)
        (folder / "a.json").write_text(json.dumps({"id": day, "new": day}))
    reader = spark.read.option("rescuedDataColumn", "_r").schema("id INT")
    frame = reader.json(str(tmp_path / "in"))
    assert frame.columns == ["id", "_r", "day"]
    assert sorted((row.id, row.day, json.loads(row._r)["new"]) for row in frame.collect()) == [
        (1, 1, 1),
        (2, 2, 2),
    ]


def test_several_paths_and_metadata(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text(json.dumps({"id": 1, name: 2}))
    reader = spark.read.option("rescuedDataColumn", "_r").schema("id INT")
    frame = reader.json([str(tmp_path / "a"), str(tmp_path / "b")])
    rows = frame.select("_metadata.file_name", "_r").collect()
    found = {row.file_name: json.loads(row._r) for row in rows}
    assert {name: fields.keys() - {"_file_path"} for name, fields in found.items()} == {
        "a.json": {"a"},
        "b.json": {"b"},
    }


@pytest.mark.parametrize(
    ("mode", "expected"), [("DROPMALFORMED", 3), ("FAILFAST", "MALFORMED_RECORD_IN_PARSING")]
)
def test_the_mode_concerns_malformed_records_alone(
    spark: SparkSession, tmp_path: Path, mode: str, expected: object
) -> None:
    path = write_files(spark, tmp_path / "in", "json")
    frame = spark.read.options(mode=mode, rescuedDataColumn="_r").schema(SCHEMA).json(path)
    if isinstance(expected, int):
        assert len(frame.collect()) == expected
        return
    with pytest.raises(Exception, match="not json") as raised:
        frame.collect()
    assert condition_of(raised.value) == expected
    assert "Traceback" not in str(raised.value)


def test_missing_paths_and_missing_schemas_are_reported_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="PATH_NOT_FOUND"):
        spark.read.option("rescuedDataColumn", "_r").schema(SCHEMA).json(str(tmp_path / "nope"))
    with pytest.raises(Exception, match="Schema must be specified"):
        spark.readStream.option("rescuedDataColumn", "_r").json(str(tmp_path))


@pytest.mark.parametrize("reader", ["read", "readStream"])
@pytest.mark.parametrize("option", ["rescuedDataColumn", "badRecordsPath"])
def test_a_wrong_value_of_an_option_is_named(
    spark: SparkSession, tmp_path: Path, reader: str, option: str
) -> None:
    path = write_files(spark, tmp_path / "in", "csv")
    source = getattr(spark, reader).schema(SCHEMA).options(skipRows="many", **{option: str(tmp_path / "bad")})
    with pytest.raises(Exception, match="skipRows") as raised:
        source.csv(path).collect() if reader == "read" else source.csv(path).writeStream.format(
            "noop"
        ).start()
    assert condition_of(raised.value) == "CF_INVALID_OPTION_VALUE"
