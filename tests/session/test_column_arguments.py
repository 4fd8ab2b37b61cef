"""Functions take columns where Spark Classic takes plain values, as Spark Connect does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import Column, SparkSession, Window
from pyspark.sql import functions as F

ROWS = (
    "SELECT 'a,b,c' AS s, '{\"k\": 7}' AS j, DATE'2024-03-15' AS d, TIMESTAMP'2024-03-15 10:20:30' AS t, "
    "'2024-03-15' AS ds, '2024-03-15 10:20:30' AS ts, 10 AS n, 12.345 AS x, array('p', NULL, 'q') AS a, "
    "'yyyy' AS f, 'month' AS u, ',' AS c, 'k' AS o, 'Fri' AS w, 2 AS i, '$.k' AS p, encode('é', 'UTF-8') AS b"
)
Call = Callable[[Callable[[Any], Any]], Column]


def _over(column: Column) -> Column:
    # Not at module level: a window starts Spark's JVM.
    return column.over(Window.orderBy("n"))


# `v` gives the argument: itself, or the literal of it.
CALLS: dict[str, Call] = {
    "to_date": lambda v: F.to_date("ds", v("yyyy-MM-dd")),
    "try_to_date": lambda v: F.try_to_date(F.col("ds"), v("yyyy-MM-dd")),
    "to_timestamp": lambda v: F.to_timestamp("ts", v("yyyy-MM-dd HH:mm:ss")),
    "date_format": lambda v: F.date_format("d", v("yyyy")),
    "trunc": lambda v: F.trunc("d", v("month")),
    "date_trunc": lambda v: F.date_trunc(v("month"), "t"),
    "next_day": lambda v: F.next_day("d", v("Fri")),
    "from_unixtime": lambda v: F.from_unixtime("n", v("yyyy")),
    "unix_timestamp": lambda v: F.unix_timestamp("ts", v("yyyy-MM-dd HH:mm:ss")),
    "months_between": lambda v: F.months_between("d", "t", v(False)),
    "get_json_object": lambda v: F.get_json_object("j", v("$.k")),
    "array_join": lambda v: F.array_join("a", v("-"), v("?")),
    "sort_array": lambda v: F.sort_array("a", v(False)),
    "concat_ws": lambda v: F.concat_ws(v("-"), "s", F.col("ds")),
    "format_string": lambda v: F.format_string(v("%s %d"), "s", "n"),
    "format_number": lambda v: F.format_number("x", v(1)),
    "substring_index": lambda v: F.substring_index("s", v(","), v(2)),
    "locate": lambda v: F.locate(v("b"), "s", v(1)),
    "regexp_extract": lambda v: F.regexp_extract("s", v("(.),(.)"), v(2)),
    "translate": lambda v: F.translate("s", v("ab"), v("xy")),
    "levenshtein": lambda v: F.levenshtein("s", "ds", v(3)),
    "conv": lambda v: F.conv("n", v(10), v(16)),
    "shiftleft": lambda v: F.shiftleft("n", v(2)),
    "shiftright": lambda v: F.shiftright("n", v(1)),
    "shiftrightunsigned": lambda v: F.shiftrightunsigned("n", v(1)),
    "encode": lambda v: F.encode("s", v("UTF-8")),
    "decode": lambda v: F.decode("b", v("UTF-8")),
    "first": lambda v: F.first("s", v(True)),
    "last": lambda v: F.last("s", v(True)),
    "approx_count_distinct": lambda v: F.approx_count_distinct("s", v(0.1)),
    "lag": lambda v: _over(F.lag("s", v(1), v("none"))),
    "lead": lambda v: _over(F.lead("s", v(1), v("none"))),
    "nth_value": lambda v: _over(F.nth_value("s", v(1))),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_literal_is_the_plain_value(spark: SparkSession, call: Call) -> None:
    rows = spark.sql(ROWS)
    plain = rows.select(call(lambda value: value))
    column = rows.select(call(F.lit))
    assert column.collect() == plain.collect()
    assert column.dtypes[0][1] == plain.dtypes[0][1]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (lambda: F.date_format("d", F.col("f")), "2024"),
        (lambda: F.trunc("d", F.col("u")).cast("string"), "2024-03-01"),
        (lambda: F.date_trunc(F.col("u"), F.col("t")).cast("string"), "2024-03-01 00:00:00"),
        (lambda: F.get_json_object(F.col("j"), F.concat(F.lit("$."), F.col("o"))), "7"),
        (lambda: F.substring_index("s", F.col("c"), F.col("i")), "a,b"),
        (lambda: F.concat_ws(F.col("c"), "s", "ds"), "a,b,c,2024-03-15"),
        (lambda: F.next_day("d", F.col("w")).cast("string"), "2024-03-22"),
    ],
)
def test_an_argument_has_the_value_of_its_row(
    spark: SparkSession, column: Callable[[], Column], expected: str
) -> None:
    assert spark.sql(ROWS).select(column()).first() == (expected,)


def test_the_name_of_the_result_is_that_of_sql(spark: SparkSession) -> None:
    assert spark.sql(ROWS).select(F.to_date("ds", F.lit("yyyy-MM-dd"))).columns == ["to_date(ds, yyyy-MM-dd)"]
