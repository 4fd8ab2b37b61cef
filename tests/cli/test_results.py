"""What `lakeward sql` prints of real rows; plain Python is the oracle."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from lakeward.cli import results, spark_errors
from lakeward.dbutils import record_secret

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = """
    select * from values
        (1, 'a;"b"', 1.50BD, timestamp'2020-01-02 03:04:05', array(1, null), named_struct('x', 1), X'00FF'),
        (20, null, null, null, null, null, null)
        as t(id, name, price, at, list, record, bytes) order by id
"""


def table(spark: SparkSession, query: str, width: int | None = None) -> list[str]:
    out = io.StringIO()
    results.as_table(spark.sql(query), out, width=width, clock=lambda: 1.5, began=1.0)
    return out.getvalue().splitlines()


def test_a_table_has_its_rows_their_number_and_the_seconds(spark: SparkSession) -> None:
    assert table(spark, "select id, name, price from (" + ROWS + ")") == [
        "id  name   price",
        "──  ─────  ─────",
        ' 1  a;"b"   1.50',
        "20  NULL    NULL",
        "(2 rows, 0.5 s)",
    ]


def test_a_statement_without_rows_says_ok(spark: SparkSession) -> None:
    assert table(spark, "create or replace temporary view nothing_to_see as select 1 a") == ["OK (0.5 s)"]


def test_only_the_first_thousand_rows_are_shown_and_it_is_said(spark: SparkSession) -> None:
    lines = table(spark, "select id from range(1500)")
    assert lines[-2] == "(first 1,000 rows, 0.5 s)"
    assert len(lines) == 2 + 1000 + 2


def test_two_columns_of_the_same_name_and_names_with_dots_are_shown(spark: SparkSession) -> None:
    assert table(spark, "select 1 as a, 2 as a, 3 as `b.c`")[0] == "a  a  b.c"


def test_json_is_one_array_of_objects(spark: SparkSession) -> None:
    out = io.StringIO()
    results.as_json(spark.sql(ROWS), out)
    first, second = json.loads(out.getvalue(), parse_float=str)
    assert first["id"] == 1
    assert first["price"] == "1.50"
    assert first["at"] == "2020-01-02T03:04:05.000Z"
    assert first["list"] == [1, None]
    assert first["record"] == {"x": 1}
    assert set(second) == set(first)
    assert second["name"] is None


def test_json_of_no_rows_is_an_empty_array(spark: SparkSession) -> None:
    out = io.StringIO()
    results.as_json(spark.sql("select 1 a where false"), out)
    assert json.loads(out.getvalue()) == []


def test_geometries_are_ewkt_in_every_format(spark: SparkSession) -> None:
    query = (
        "select 1 as id, st_point(1, 2, 4326) as g, st_geogfromtext('POINT(3 4)') as `a.b`, "
        "cast(null as geometry(0)) as n, st_point(5, 6) as g"
    )
    assert table(spark, query)[2].split() == [
        *("1", "SRID=4326;POINT(1", "2)", "SRID=4326;POINT(3", "4)", "NULL", "POINT(5", "6)"),
    ]
    out = io.StringIO()
    results.as_json(spark.sql(query), out)
    pairs = json.loads(out.getvalue(), object_pairs_hook=list)[0]
    assert [list(pair) for pair in pairs] == [
        *(["id", 1], ["g", "SRID=4326;POINT(1 2)"], ["a.b", "SRID=4326;POINT(3 4)"]),
        *(["n", None], ["g", "POINT(5 6)"]),
    ]
    out = io.StringIO()
    results.as_csv(spark.sql(query), out)
    assert list(csv.reader(io.StringIO(out.getvalue())))[1] == [
        *("1", "SRID=4326;POINT(1 2)", "SRID=4326;POINT(3 4)", "", "POINT(5 6)"),
    ]


def test_csv_is_read_back_by_another_reader(spark: SparkSession) -> None:
    out = io.StringIO()
    results.as_csv(spark.sql(ROWS), out)
    header, first, second = csv.reader(io.StringIO(out.getvalue(), newline=""))
    assert header == ["id", "name", "price", "at", "list", "record", "bytes"]
    assert first[:4] == ["1", 'a;"b"', "1.50", "2020-01-02 03:04:05"]
    assert second == ["20", "", "", "", "", "", ""]


def test_errors_of_spark_are_reported_without_plan_and_stack_with_near_misses(
    spark: SparkSession,
) -> None:
    spark.sql("create table if not exists heart_rates (id bigint)")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND") as failure:
        spark.sql("select * from heart_rate")
    message = spark_errors.error_message(failure.value, spark) or ""
    assert message.startswith("[TABLE_OR_VIEW_NOT_FOUND]")
    assert "Did you mean heart_rates?" in message
    assert "'Project" not in message
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO") as failure:
        spark.sql("select 1 / 0").collect()
    message = spark_errors.error_message(failure.value, spark) or ""
    assert message.startswith("[DIVIDE_BY_ZERO]")
    assert "\tat " not in message
    assert spark_errors.error_message(ValueError("mine"), spark) is None


SECRET = 'Aq7a & < > " \' \\ \t ,;ü\nsecond "line" Zq9z'
WITH_SECRET = (
    "select :s as s, array(:s) as a, named_struct('k', map(:s, 1)) as r, 1 as n, cast(null as string) as z"
)


@pytest.mark.parametrize("form", ["table", "narrow", "json", "csv"])
def test_no_format_shows_a_secret(spark: SparkSession, form: str) -> None:
    record_secret(SECRET.encode())
    frame = spark.sql(WITH_SECRET, args={"s": SECRET})
    out = io.StringIO()
    if form in ("table", "narrow"):
        width = 30 if form == "narrow" else None
        results.as_table(frame, out, width=width, clock=lambda: 1.5, began=1.0)
    else:
        (results.as_json if form == "json" else results.as_csv)(frame, out)
    text = out.getvalue()
    assert not [mark for mark in ("Aq7a", "Zq9z", "second") if mark in text], text
    assert "[REDAC" in text
    if form == "json":
        shown = "[REDACTED]"
        assert json.loads(text) == [{"s": shown, "a": [shown], "r": {"k": {shown: 1}}, "n": 1, "z": None}]
    if form == "csv":
        assert next(csv.DictReader(io.StringIO(text, newline="")))["s"] == "[REDACTED]"


def test_a_secret_in_a_column_s_name_is_not_shown(spark: SparkSession) -> None:
    record_secret(b"Aq7a'Zq9z")
    frame = spark.sql("select 1 as `Aq7a'Zq9z`")
    for form in (results.as_json, results.as_csv):
        out = io.StringIO()
        form(frame, out)
        assert "Aq7a" not in out.getvalue()
    assert "Aq7a" not in table(spark, "select 1 as `Aq7a'Zq9z`")[0]
