"""COPY INTO: loads each file once, in one commit with the load history (AL-8)."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.errors import PySparkException

from lakeward.session import condition_of
from tests.copy_into.conftest import Loads


def failed(call: Callable[[], Any]) -> str | None:
    """Return the error condition of a call."""
    with pytest.raises(PySparkException) as error:
        call()
    return condition_of(error.value)


def test_a_second_run_loads_only_what_is_new_and_force_loads_all_again(loads: Loads) -> None:
    loads.create()
    loads.put("a.json", {"id": 1, "s": "x"}, {"id": 2})
    assert loads.copy() == [(2, 2, 0)]
    changed = loads.put("a.json", {"id": 99})
    assert loads.copy() == [(0, 0, 0)]
    changed.unlink()
    loads.put("sub/b.json", {"id": 3, "s": "y"})
    assert loads.copy() == [(1, 1, 0)]
    assert loads.copy(force="true") == [(1, 1, 0)]
    assert loads.rows() == [(1, "x"), (2, None), (3, "y"), (3, "y")]
    assert loads.copy() == [(0, 0, 0)]


@pytest.mark.slow
def test_history_shows_one_commit_a_load_with_its_metrics(loads: Loads) -> None:
    loads.create()
    loads.put("a.json", {"id": 1}, {"id": 2})
    loads.copy()
    loads.copy()
    newest, *older = loads.history()
    assert (newest.operation, len(older)) == ("COPY INTO", 1)
    assert newest.operationMetrics["numOutputRows"] == "2"
    assert newest.operationMetrics["numSkippedCorruptFiles"] == "0"
    assert int(newest.operationMetrics["numFiles"]) >= 1
    assert newest.operationParameters["fileFormat"] == "JSON"


@pytest.mark.slow
@pytest.mark.rule("8.16")
def test_two_tables_have_histories_of_their_own_which_survive_a_rename_but_no_shallow_clone(
    loads: Loads,
) -> None:
    loads.create()
    loads.put("a.json", {"id": 1, "s": "x"})
    loads.copy()
    spark, renamed = loads.spark, f"{loads.table}_renamed"
    spark.sql(f"CREATE TABLE {loads.table}_clone SHALLOW CLONE {loads.table}")
    assert loads.copy(into=f"{loads.table}_clone") == [(1, 1, 0)]
    spark.sql(f"ALTER TABLE {loads.table} RENAME TO {renamed}")
    assert loads.copy(into=renamed) == [(0, 0, 0)]


@pytest.mark.rule("8.5")
def test_columns_that_the_table_lacks_are_refused_or_added(loads: Loads) -> None:
    loads.create()
    loads.put("a.json", {"id": 1, "extra": 1.5})
    assert failed(loads.copy) == "COPY_INTO_SCHEMA_MISMATCH_WITH_TARGET_TABLE"
    assert loads.copy(mergeSchema="true") == [(1, 1, 0)]
    assert loads.rows() == [(1, None, 1.5)]


@pytest.mark.parametrize(
    "source", ["", "(SELECT * FROM 'FOLDER')", "(SELECT keyed, many, one, id FROM 'FOLDER')"]
)
@pytest.mark.parametrize("file_format", ["JSON", "PARQUET"])
def test_fields_of_structs_go_by_their_names(loads: Loads, file_format: str, source: str) -> None:
    """Schemas of JSON files have them in the order of their names."""
    struct, other = "STRUCT<street: STRING, city: STRING>", "STRUCT<city: STRING, street: STRING>"
    keyed = "STRUCT<k: {}>" if file_format == "JSON" else "MAP<STRING, {}>"
    loads.create(f"id BIGINT, one {struct}, many ARRAY<{struct}>, keyed {keyed.format(struct)}")
    place = {"street": "S", "city": "C"}
    text = json.dumps({"id": 1, "one": place, "many": [place], "keyed": {"k": place}})
    schema = f"id BIGINT, one {other}, many ARRAY<{other}>, keyed {keyed.format(other)}"
    rows = loads.spark.sql(f"SELECT from_json('{text}', '{schema}') v").select("v.*")
    rows.write.format(file_format).mode("append").save(str(loads.folder))
    loads.copy(source=source.replace("FOLDER", str(loads.folder)), file_format=file_format)
    found = loads.rows("to_json(struct(*))")
    assert [json.loads(row[0]) for row in found] == [json.loads(text)]


def test_a_struct_with_other_fields_is_refused(loads: Loads) -> None:
    loads.create("id BIGINT, place STRUCT<street: STRING, town: STRING>")
    loads.put("a.json", {"id": 1, "place": {"street": "S", "city": "C"}})
    with pytest.raises(Exception, match=r"city|town"):
        loads.copy()
    assert loads.rows() == []


def test_a_table_without_columns_takes_them_from_the_files(loads: Loads) -> None:
    loads.create("")
    loads.put("a.json", {"id": 1, "tags": ["x"], "at": {"lat": 1.5}})
    assert failed(loads.copy) == "COPY_INTO_SCHEMA_MISMATCH_WITH_TARGET_TABLE"
    loads.copy(mergeSchema="true")
    assert loads.spark.table(loads.table).schema.simpleString() == (
        "struct<at:struct<lat:double>,id:bigint,tags:array<string>>"
    )


def test_a_query_over_the_files_sees_their_metadata(loads: Loads) -> None:
    loads.create("id INT, name STRING, n BIGINT")
    loads.put("a.json", {"id": "1"})
    loads.put("b.json", {"id": "2"})
    query = f"(SELECT id::int, _metadata.file_name AS name, count(*) OVER () AS n FROM '{loads.folder}')"
    assert loads.copy(source=query) == [(2, 2, 0)]
    assert loads.rows() == [(1, "a.json", 2), (2, "b.json", 2)]


@pytest.mark.rule("8.5")
def test_csv_values_are_strings_unless_inferred_and_files_with_names_are_matched_by_name(
    loads: Loads,
) -> None:
    loads.create("b INT, a STRING")
    loads.put("1.csv", text="a,b\nx,1\n")
    header = "FORMAT_OPTIONS ('header' = 'true')"
    assert failed(lambda: loads.copy(header, file_format="CSV")) == "DELTA_FAILED_TO_MERGE_FIELDS"
    typed = "FORMAT_OPTIONS ('header' = 'true', 'inferSchema' = 'true')"
    assert loads.copy(typed, file_format="CSV") == [(1, 1, 0)]
    assert loads.rows() == [(1, "x")]


@pytest.mark.slow
def test_a_format_option_merges_the_schemas_of_files(loads: Loads) -> None:
    loads.create("a STRING, b STRING")
    first = loads.put("1.csv", text="a\nx\n")
    loads.put("2.csv", text="a,b\ny,z\n")
    os.utime(first, (1, 1))
    loads.copy("FORMAT_OPTIONS ('header' = 'true')", file_format="CSV")
    merged = "FORMAT_OPTIONS ('header' = 'true', 'mergeSchema' = 'true')"
    loads.copy(merged, file_format="CSV", force="true")
    assert loads.rows() == [("x", None), ("x", None), ("y", "z"), ("y", None)]


@pytest.mark.slow
@pytest.mark.rule("8.9")
def test_files_without_a_header_by_position_and_by_a_list(loads: Loads) -> None:
    loads.create("a STRING, k BIGINT GENERATED ALWAYS AS IDENTITY, b INT")
    loads.put("1.csv", text="x,1\ny,2\n")
    assert loads.copy(file_format="CSV", into=f"{loads.table} BY POSITION") == [(2, 2, 0)]
    loads.copy(file_format="CSV", into=f"{loads.table} (b, a)", rest="FILES = ('2.csv')")
    loads.put("2.csv", text="3,z\n")
    loads.copy(file_format="CSV", into=f"{loads.table} (b, a)", rest="PATTERN = '[2-3].csv'")
    assert loads.rows("struct(a, b)") == [(("x", 1),), (("y", 2),), (("z", 3),)]
    into = f"{loads.table} (a)"
    assert failed(lambda: loads.copy(file_format="CSV", into=into, force="true")) == (
        "COPY_INTO_COLUMN_ARITY_MISMATCH"
    )
    assert failed(lambda: loads.copy(file_format="CSV", into=f"{loads.table} (k, a)")) == (
        "COPY_INTO_SYNTAX_ERROR"
    )


@pytest.mark.slow
@pytest.mark.rule("8.10")
def test_validate_shows_rows_and_writes_nothing(loads: Loads) -> None:
    loads.create("id BIGINT NOT NULL, s STRING")
    loads.spark.sql(f"ALTER TABLE {loads.table} ADD CONSTRAINT small CHECK (id < 10)")
    loads.put("a.json", {"id": 1, "s": "x"}, {"id": 2, "s": "y"})
    assert loads.copy("VALIDATE 1 ROWS") == [(1, "x")]
    assert len(loads.copy("VALIDATE ALL")) == 2
    loads.put("b.json", {"id": 11, "s": "x"})
    assert failed(lambda: loads.copy("VALIDATE")) == "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    loads.put("b.json", {"s": "x"})
    assert failed(lambda: loads.copy("VALIDATE")) == "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
    assert loads.rows() == []
    assert loads.history()[0].operation == "ADD CONSTRAINT"


def test_a_corrupt_file_fails_the_load_or_is_left_out_counted_and_tried_again(loads: Loads) -> None:
    loads.create()
    loads.put("a.json", {"id": 1})
    broken = loads.put("b.json.gz", text="no gzip")
    assert failed(loads.copy) == "FAILED_READ_FILE.NO_HINT"
    assert loads.rows() == []
    lenient = "FORMAT_OPTIONS ('ignoreCorruptFiles' = 'true')"
    assert loads.copy(lenient) == [(1, 1, 1)]
    assert loads.history()[0].operationMetrics["numSkippedCorruptFiles"] == "1"
    broken.write_bytes(gzip.compress(b'{"id": 2}\n'))
    assert loads.copy(lenient) == [(1, 1, 0)]


def test_conditions_of_failed_loads(loads: Loads) -> None:
    loads.create()
    spark, folder = loads.spark, loads.folder
    loads.put("a.json", {"id": 1})
    loads.put("csv/a.csv", text="")
    spark.sql(f"CREATE TABLE IF NOT EXISTS {loads.table}_csv (id INT) USING CSV")
    assert failed(lambda: loads.copy(into="main.default.no_such")) == "DELTA_MISSING_DELTA_TABLE_COPY_INTO"
    assert failed(lambda: loads.copy(into=f"{loads.table}_csv")) == "DELTA_COPY_INTO_TARGET_FORMAT"
    assert failed(lambda: loads.copy(source=f"'{folder}/nothing'")) == "PATH_NOT_FOUND"
    assert failed(lambda: loads.copy(source=f"'{folder}/csv'", file_format="CSV")) == (
        "COPY_INTO_SOURCE_SCHEMA_INFERENCE_FAILED"
    )
    spark.range(1).write.format("delta").save(str(folder / "delta"))
    assert failed(lambda: loads.copy(source=f"'{folder}/delta'", file_format="PARQUET")) == (
        "COPY_INTO_SOURCE_FILE_FORMAT_NOT_SUPPORTED"
    )
    assert failed(lambda: loads.copy(nonsense="true")) == "COPY_INTO_SYNTAX_ERROR"
    assert failed(lambda: loads.copy("VALIDATE 0 ROWS")) == "COPY_INTO_SYNTAX_ERROR.VALIDATE_INVALID_ROWS"
    assert failed(lambda: loads.copy("WRONG")) == "PARSE_SYNTAX_ERROR"


def test_a_path_may_be_the_target_and_the_source_a_parameter(loads: Loads) -> None:
    path = loads.folder.parent / "target"
    loads.spark.range(0).write.format("delta").save(str(path))
    loads.put("a.json", {"id": 7})
    result = loads.spark.sql(
        f"COPY INTO delta.`{path}` FROM :from FILEFORMAT = JSON", args={"from": str(loads.folder)}
    )
    assert [tuple(row) for row in result.collect()] == [(1, 1, 0)]
    assert loads.spark.read.format("delta").load(str(path)).collect() == [(7,)]
