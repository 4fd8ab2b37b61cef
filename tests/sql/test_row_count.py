"""GET DIAGNOSTICS … = ROW_COUNT: the rows that the last DML statement has affected.

Source: https://docs.databricks.com/aws/en/sql/language-manual/control-flow/get-diagnostics-stmt
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from lakeward.error_formatting import describe_error
from tests.sql.test_insert_results import DYNAMIC, STATEMENTS, fill

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = "main.default.counted"
GET = "GET DIAGNOSTICS n = ROW_COUNT"
# Of the table with the ids 0 to 9.
OTHERS = {
    f"UPDATE {T} SET part = 7 WHERE id < 4": 4,
    f"UPDATE {T} SET part = 7 WHERE id > 100": 0,
    f"DELETE FROM {T} WHERE id < 3": 3,
    f"DELETE FROM {T} WHERE id > 100": 0,
    f"DELETE FROM {T}": 10,
    f"MERGE INTO {T} t USING (SELECT * FROM range(5, 15)) s ON t.id = s.id WHEN MATCHED THEN UPDATE "
    "SET part = 7 WHEN NOT MATCHED THEN INSERT (id, part) VALUES (s.id, 1)": 10,
    f"MERGE INTO {T} t USING (SELECT * FROM range(20, 25)) s ON t.id = s.id WHEN MATCHED THEN DELETE": 0,
    f"COPY INTO {T} FROM (SELECT id::BIGINT, 1 AS part FROM 'dbfs:/counted') "
    "FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')": 2,
}
# The result of INSERT … REPLACE is that of its query.
INSERTS = {text.format(t=T): rows for text, rows in STATEMENTS.items() if not text.startswith("/*")}
PLACES = {
    "script": "BEGIN DECLARE n BIGINT; {}; {get}; SELECT n; END",
    "after a query": "BEGIN DECLARE n BIGINT; {}; SELECT 1; SET n = 8; {get}; SELECT n; END",
    "condition": "BEGIN DECLARE n BIGINT; IF true THEN {}; {get}; END IF; SELECT n; END",
    "inner block": "BEGIN DECLARE n BIGINT; BEGIN {}; END; {get}; SELECT n; END",
    "atomic": "BEGIN ATOMIC DECLARE n BIGINT; DECLARE b BOOLEAN; {}; {get}, b = TRANSACTION_ACTIVE; "
    "SELECT n; END",
}


def _count(spark: SparkSession, place: str, text: str) -> object:
    fill(spark, T, "partitioned")
    if text.startswith("COPY INTO"):
        spark.range(2).write.mode("overwrite").option("header", "true").csv("dbfs:/counted")
    return spark.sql(PLACES[place].format(text, get=GET)).collect()[0][0]


@pytest.mark.parametrize("text", [*OTHERS, *INSERTS, *(text.format(t=T) for text in DYNAMIC)])
def test_it_is_the_number_of_affected_rows(spark: SparkSession, text: str) -> None:
    expected = {**OTHERS, **INSERTS, **{text.format(t=T): rows for text, rows in DYNAMIC.items()}}
    assert _count(spark, "script", text) == expected[text]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [*list(OTHERS)[::3], *list(INSERTS)[:2]])
def test_it_is_known_wherever_the_statement_is(spark: SparkSession, place: str, text: str) -> None:
    assert _count(spark, place, text) == {**OTHERS, **INSERTS}[text]


def test_each_statement_of_a_loop_has_its_own(spark: SparkSession) -> None:
    fill(spark, T, "plain")
    text = (
        f"BEGIN DECLARE n, total BIGINT DEFAULT 0; DECLARE i INT DEFAULT 0; WHILE i < 4 DO "
        f"INSERT INTO {T} SELECT id, 1 FROM range(9) WHERE id < i; {GET}; "
        "SET total = total * 10 + n; SET i = i + 1; END WHILE; SELECT total; END"
    )
    assert spark.sql(text).collect() == [(123,)]


def test_procedures_and_session_variables(spark: SparkSession) -> None:
    fill(spark, T, "plain")
    spark.sql("DECLARE OR REPLACE VARIABLE counted BIGINT")
    spark.sql(
        "CREATE OR REPLACE PROCEDURE main.default.count_rows(OUT r BIGINT) LANGUAGE SQL SQL SECURITY INVOKER "
        f"AS BEGIN UPDATE {T} SET part = 1 WHERE id < 6; GET DIAGNOSTICS r = ROW_COUNT; END"
    )
    assert spark.sql("BEGIN DECLARE n BIGINT; CALL main.default.count_rows(n); SELECT n; END").collect() == [
        (6,)
    ]
    spark.sql(f"BEGIN DELETE FROM {T} WHERE id = 1; GET DIAGNOSTICS session.counted = ROW_COUNT; END")
    assert spark.sql("SELECT counted").collect() == [(1,)]
    spark.sql("DROP TEMPORARY VARIABLE counted")
    spark.sql("DROP PROCEDURE main.default.count_rows")


def test_a_statement_that_fails_does_not_count(spark: SparkSession) -> None:
    fill(spark, T, "plain")
    text = (
        "BEGIN DECLARE n BIGINT; DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; "
        f"DELETE FROM {T} WHERE id < 2; UPDATE {T} SET part = 1 / 0; {GET}; SELECT n; END"
    )
    assert spark.sql(text).collect() == [(2,)]


def test_the_rows_of_another_format_are_not_known(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS hive_metastore.default.counted (a INT) USING parquet")
    insert = "INSERT INTO hive_metastore.default.counted VALUES (1)"
    text = PLACES["script"].format(insert, get=GET)
    assert spark.sql(text).collect() == [(None,)]


@pytest.mark.parametrize("form", ["{}", "EXECUTE IMMEDIATE '{}'"])
def test_outside_of_a_script_it_is_an_error(spark: SparkSession, form: str) -> None:
    spark.sql("DECLARE OR REPLACE VARIABLE n BIGINT")
    with pytest.raises(PySparkException) as caught:
        spark.sql(form.format(GET))
    assert describe_error(caught.value).condition == "UNSUPPORTED_SQL"
    spark.sql("DROP TEMPORARY VARIABLE n")
