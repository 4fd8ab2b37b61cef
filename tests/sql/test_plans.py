"""A statement that Spark runs gives the same plan through the front end."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.sql import CONSTRUCTS, constructs_in
from tests.sql.corpus_file import cases, files

PARTS = 4


def normal(plan: Any) -> str:
    """The plan without the numbers and addresses that are new in every parse."""
    return re.sub(r"#\d+L?|@[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "#", plan.treeString())


@cache
def examples(spark: SparkSession) -> tuple[str, ...]:
    """Spark's own documented examples of its functions, and the corpus."""
    infos = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()  # type: ignore[union-attr]
    documented = [
        statement.strip()
        for info in infos
        for statement in re.findall(r"^\s*> (.+?);\s*$", info.getExamples(), re.MULTILINE)
    ]
    corpus = [case.text for path in files() for case in cases(path)]
    return tuple(documented + corpus)


@pytest.mark.parametrize("part", range(PARTS))
def test_what_spark_parses_comes_back_as_spark_parsed_it(spark: SparkSession, part: int) -> None:
    parser: Any = spark._jsparkSession.sessionState().sqlParser()
    sparks = parser.sparks()
    seen = 0
    for text in examples(spark)[part::PARTS]:
        try:
            wanted = normal(sparks.parsePlan(text))
        except (PySparkException, Py4JJavaError):
            continue
        if constructs_in(text):
            continue  # Spark reads it, but as something else
        assert normal(parser.parsePlan(text)) == wanted, text
        seen += 1
    assert seen > 100


def test_what_is_declared_as_is_is_parsed_by_spark(spark: SparkSession) -> None:
    sparks: Any = spark._jsparkSession.sessionState().sqlParser().sparks()
    for construct in CONSTRUCTS:
        if construct.verdict == "supported":
            sparks.parsePlan(construct.example)


def test_parameters_reach_statements_that_are_rewritten(spark: SparkSession) -> None:
    assert spark.sql("SELECT :x + 1 AS n", args={"x": 5}).collect() == [(6,)]
    assert spark.sql("SELECT ? + 1 AS n", args=[5]).collect() == [(6,)]
    rows = spark.sql("SELECT '{\"a\": 1}':a AS a, s?::int + :v AS n FROM (SELECT '3' AS s)", args={"v": 5})
    assert rows.collect() == [("1", 8)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?::int", 7),
        ("SELECT DISTINCT ?::int", 7),
        ("SELECT 1 + ?::int", 8),
        ("SELECT abs(?::int)", 7),
        ("SELECT array(1, ?::int)[1]", 7),
        ("SELECT id FROM range(9) WHERE id = ?::int", 7),
        ("SELECT id FROM range(9) WHERE id > 0 AND ?::int = id", 7),
        ("SELECT id FROM range(9) WHERE id IN (?::int)", 7),
        ("SELECT CASE WHEN ?::boolean IS NULL THEN 1 END", None),
        ("SELECT IF(true, ?::int, 1)", 7),
        # The operator of a safe cast, behind a parameter, a literal, a call, an element and a column.
        ("SELECT ? ?::int", 7),
        ("SELECT concat(?, 'x')?::int", None),
        ("SELECT array(?)[0]?::int", 7),
        ("SELECT x?::int FROM (SELECT ? AS x)", 7),
        ("SELECT 7?::int WHERE ? = '7'", 7),
    ],
)
def test_casts_of_parameters_are_no_safe_casts(spark: SparkSession, text: str, expected: object) -> None:
    values = [False if "boolean" in text else "7"]
    assert [row[0] for row in spark.sql(text, values).collect()] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT :x::int", 5),
        ("SELECT :x ?::int", 5),
        ("SELECT 1 + :x?::int", 6),
        ("SELECT abs(:x ?::int) + length(:y:a)", 8),
        ("SELECT :y:a", "b c"),
        ("SELECT concat(:y:a, :y:n::int)", "b c7"),
        ("SELECT id FROM range(9) WHERE id = :y:n?::int AND :y:a = 'b c'", 7),
        ("SELECT j:a || :x FROM (SELECT :y AS j)", "b c5"),
    ],
)
def test_named_parameters_have_paths_and_safe_casts(spark: SparkSession, text: str, expected: object) -> None:
    values = {"x": "5", "y": '{"a": "b c", "n": 7}'}
    assert [row[0] for row in spark.sql(text, values).collect()] == [expected]


def test_expressions_of_data_frames_have_it(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    frame = spark.sql("SELECT '{\"a\": {\"B\": 5}}' AS x, 'q' AS y")
    assert frame.select(F.expr("x:a.b"), F.expr("y?::int")).collect() == [("5", None)]
    assert frame.selectExpr("x:a.b?::int AS n").where("n = 5").collect() == [(5,)]
    assert frame.where("x:a.b = '5' AND y?::int IS NULL").count() == 1


def test_streams_have_it(spark: SparkSession, tmp_path: Any) -> None:
    """A streaming query analyzes and runs in a clone of the session, on a thread of the JVM."""
    spark.sql('CREATE OR REPLACE TABLE main.default.sql_stream AS SELECT \'{"a": "1"}\' AS x')
    seen: list[Any] = []

    def batch(frame: Any, _: int) -> None:
        frame.createOrReplaceTempView("sql_stream_batch")
        seen.extend(frame.sparkSession.sql("SELECT x:a, 'k'?::int AS k FROM sql_stream_batch").collect())
        seen.extend(frame.sparkSession.sql("SHOW CATALOGS LIKE 'main'").collect())

    query = (
        spark.readStream.table("main.default.sql_stream")
        .where("x:a?::int = 1")
        .writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert seen == [("1", None), ("main",)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT\n  '1'?::int, nope FROM range(1)", "line 2 pos 13"),
        ("SELECT 'é😀':a,\n '😀'?::int,  nope FROM range(1)", "line 2 pos 13"),
        ("SELECT x?::int,\n FROM t WHERE WHERE", "line 2"),
    ],
)
def test_errors_name_the_place_in_the_users_text(spark: SparkSession, text: str, place: str) -> None:
    with pytest.raises(PySparkException) as caught:
        spark.sql(text).collect()
    assert place in str(caught.value).replace(",", "")


def test_a_parse_error_shows_the_users_text(spark: SparkSession) -> None:
    text = "SELECT x?::int FROM (SELECT 1 AS x"
    with pytest.raises(PySparkException) as caught:
        spark.sql(text)
    assert text in str(caught.value)
    assert "lakeward" not in str(caught.value)


def test_parameters_reach_statements_that_are_executed_here(spark: SparkSession) -> None:
    spark.sql("USE CATALOG IDENTIFIER(:c)", args={"c": "main"})
    assert spark.sql("SHOW CATALOGS LIKE :p", args={"p": "mai*"}).collect() == [("main",)]
    assert spark.sql("SHOW CATALOGS LIKE ?", args=["mai*"]).collect() == [("main",)]
    spark.sql("CREATE TABLE IF NOT EXISTS main.default.sql_parameters (id INT)")
    spark.sql(
        "GRANT SELECT ON TABLE IDENTIFIER(:t) TO :who", args={"t": "main.default.sql_parameters", "who": "me"}
    )
    rows = spark.sql("SHOW GRANTS `me` ON TABLE main.default.sql_parameters").collect()
    assert [tuple(row)[:2] for row in rows] == [("me", "SELECT")]
