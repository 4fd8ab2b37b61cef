"""CREATE TEMPORARY TABLE: session-scoped Delta tables with names of one part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from lakeward.session import condition_of
from lakeward.sql import Refusal, rewrite
from lakeward.sql.constructs.temporary_tables import CreateTemporaryTable
from tests.conditions import failing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_USING = "INVALID_SQL_SYNTAX.CREATE_TEMP_TABLE_USING_PROVIDER"
_EXCLUSIVE = "TEMP_TABLE_CREATION_MUTUAL_EXCLUSIVE_SPECS"


@pytest.mark.parametrize("words", ["TEMP", "TEMPORARY"])
@pytest.mark.parametrize(
    ("verb", "create", "replace"),
    [("CREATE", True, False), ("CREATE OR REPLACE", True, True), ("REPLACE", False, True)],
)
def test_every_spelling_is_read(words: str, verb: str, create: bool, replace: bool) -> None:
    assert rewrite(f"{verb} {words} TABLE `t t` (id INT) COMMENT 'USING'") == CreateTemporaryTable(
        "t t", create=create, replace=replace, definition="(id INT) COMMENT 'USING'"
    )


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("CREATE TEMP TABLE t (id INT) USING delta", _USING),
        ("CREATE TEMP TABLE t USING parquet AS SELECT 1", _USING),
        ("CREATE OR REPLACE TEMPORARY TABLE t USING csv OPTIONS (path '/x')", _USING),
        ("CREATE TEMP TABLE t (id INT) LOCATION '/x'", f"{_EXCLUSIVE}.WITH_PERMANENT_TABLE_SUGGESTION"),
        ("CREATE TEMP TABLE IF NOT EXISTS t (id INT)", f"{_EXCLUSIVE}.WITHOUT_SUGGESTION"),
    ],
)
def test_clauses_of_permanent_tables_are_refused(text: str, condition: str) -> None:
    result = rewrite(text)
    assert isinstance(result, Refusal)
    assert result.condition == condition


def test_a_query_may_use_such_words() -> None:
    text = "CREATE TEMP TABLE t AS SELECT * FROM a JOIN b USING (id)"
    assert isinstance(rewrite(text), CreateTemporaryTable)


def test_a_name_has_one_part() -> None:
    result = rewrite("CREATE TEMPORARY TABLE s.t (id INT)")
    assert isinstance(result, Refusal)
    assert result.condition == "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS"


def test_a_temporary_table_is_read_written_and_dropped(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TABLE main.default.scratch AS SELECT 'permanent' AS name")
    spark.sql("USE main.default")
    spark.sql("CREATE TEMPORARY TABLE scratch (id INT, name STRING)")
    try:
        spark.sql("INSERT INTO scratch VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        spark.sql("UPDATE scratch SET name = 'x' WHERE id = 1")
        spark.sql("DELETE FROM scratch WHERE id = 2")
        spark.sql(
            "MERGE INTO scratch t USING (SELECT 3 AS id, 'y' AS name) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        assert sorted(map(tuple, spark.table("scratch").collect())) == [(1, "x"), (3, "y")]
        assert spark.table("main.default.scratch").collect() == [("permanent",)]
        assert spark.newSession().table("main.default.scratch").columns == ["name"]
        with failing("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS"):
            spark.sql("CREATE TEMP TABLE scratch (id INT)")
        spark.sql("CREATE OR REPLACE TEMP TABLE scratch AS SELECT 5 AS five")
        assert spark.sql("SELECT five FROM scratch").collect() == [(5,)]
    finally:
        spark.sql("DROP TABLE scratch")
    assert spark.sql("SELECT * FROM scratch").collect() == [("permanent",)]
    spark.sql("DROP TABLE main.default.scratch")


def test_errors_have_the_platforms_conditions(spark: SparkSession) -> None:
    expected = {
        "CREATE TEMP TABLE t_temp (id INT) USING parquet": _USING,
        "REPLACE TEMP TABLE no_such_temp AS SELECT 1 AS a": "TABLE_OR_VIEW_NOT_FOUND",
        "CREATE TEMP TABLE main.default.t_temp (id INT)": "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS",
    }
    found = {}
    for text in expected:
        with pytest.raises(PySparkException) as caught:
            spark.sql(text)
        found[text] = condition_of(caught.value)
    assert found == expected
