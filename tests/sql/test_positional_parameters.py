"""Positional parameters have the order of the list, which Spark 4.2.0 loses from five parameters on."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

NUMBERS = [1, 4, 5, 6, 17, 40]


@pytest.mark.parametrize("number", NUMBERS)
def test_parameters_keep_their_order(spark: SparkSession, number: int) -> None:
    query = f"SELECT array({', '.join('?' * number)})"
    expected = list(range(number))
    assert spark.sql(query, args=expected).collect()[0][0] == expected
    assert spark.sql(query, args=[F.lit(each) for each in expected]).collect()[0][0] == expected


def test_values_of_several_types(spark: SparkSession) -> None:
    values = [1, "a", None, 2.5, True, b"x", "a", 1]
    found = spark.sql(f"SELECT {', '.join('?' * len(values))}", args=values).collect()[0]
    assert [*found] == values


def test_statements_that_are_rewritten_or_run_here(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TABLE main.default.positional (a INT, b INT, c INT, d INT, e INT, f STRING)")
    try:
        insert = "INSERT INTO main.default.positional VALUES (?, ?, ?, ?, ?, ?)"
        spark.sql(insert, args=[1, 2, 3, 4, 5, "six"])
        update = "UPDATE main.default.positional SET a = ?, b = ?, c = ?, d = ?, e = ? WHERE f = ?"
        spark.sql(update, args=[6, 7, 8, 9, 10, "six"])
        assert spark.table("main.default.positional").collect() == [(6, 7, 8, 9, 10, "six")]
        statement = "EXECUTE IMMEDIATE 'SELECT ?, ?, ?, ?, ?, ?' USING 1, 2, 3, 4, 5, 6"
        assert spark.sql(statement).collect() == [(1, 2, 3, 4, 5, 6)]
    finally:
        spark.sql("DROP TABLE main.default.positional")
