"""Counts that `observe` takes: in generated code and in Spark's own, on every shape of a query.

The expected values are those of `agg` with the same expressions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Observation
from pyspark.sql import functions as F

from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
ROWS = 1000
VALUES = (
    "id",
    "IF(id % 3 = 0, NULL, id) AS n",
    "CONCAT('d', id % 7) AS device",
    "IF(id % 5 = 0, NULL, DECIMAL(id) / 4) AS rate",
    "IF(id % 11 = 0, NULL, NAMED_STRUCT('low', id % 4, 'tags', ARRAY(id, NULL))) AS nested",
    "DATE_ADD(DATE'2024-01-01', INT(id % 40)) AS day",
)
COUNTS = {
    "rows": "COUNT(1)",
    "column": "COUNT(n)",
    "two columns": "COUNT(n, rate)",
    "if": "COUNT_IF(n > 100)",
    "text": "COUNT_IF(device LIKE 'd%' AND LENGTH(device) <= 2 AND device <> 'd3')",
    "decimal": "COUNT_IF(NOT COALESCE(rate BETWEEN 2.5 AND 80, FALSE))",
    "nested": "COUNT_IF(nested.low >= 2 AND nested.tags[0] > 10)",
    "date": "COUNT_IF(MONTH(day) = 2)",
    "never": "COUNT_IF(FALSE)",
}
# Spark generates no code for it, and with it none for the whole stage.
INTERPRETED = "COUNT_IF(FROM_JSON(CONCAT('{\"a\":', id, '}'), 'a INT').a > 500)"
SHAPES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "plain": lambda df: df,
    "filter above": lambda df: df.where("id < 10"),
    "filter that drops all": lambda df: df.where("n IS NULL AND n IS NOT NULL"),
    "aggregate above": lambda df: df.groupBy("device").count(),
    "join above": lambda df: df.join(df.sparkSession.range(20), "id"),
    "union above": lambda df: df.select("id").union(df.sparkSession.range(5)),
    # A global sort reads its rows a second time to find ranges, and counts them twice.
    "sort above": lambda df: df.sortWithinPartitions("rate", "id"),
    "generator above": lambda df: df.select("id", F.explode("nested.tags")),
    "repartition above": lambda df: df.repartition(3),
    "project above": lambda df: df.selectExpr("id + 1 AS next", "device"),
}


@pytest.fixture(params=[True, False], ids=["generated", "interpreted"])
def generated(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[bool]:
    mode = "FALLBACK" if request.param else "NO_CODEGEN"
    conf = {
        "spark.sql.codegen.wholeStage": str(request.param).lower(),
        "spark.sql.codegen.factoryMode": mode,
    }
    with temporary_conf(spark, conf):
        yield request.param


@pytest.fixture
def stored(spark: SparkSession, tmp_path: Path) -> str:
    path = str(tmp_path / "rows")
    spark.range(ROWS).selectExpr(*VALUES).repartition(4).write.parquet(path)
    return path


def rows(spark: SparkSession, stored: str, source: str) -> DataFrame:
    if source == "range":
        return spark.range(0, ROWS, 1, 4).selectExpr(*VALUES)
    df = spark.read.parquet(stored)
    if source == "aggregate":
        return df.groupBy("id").agg(*[F.first(name).alias(name) for name in df.columns if name != "id"])
    if source == "wide":
        return df.selectExpr("*", *[f"id + {i} AS c{i}" for i in range(150)])
    return df


def counts() -> list[Any]:
    return [F.expr(text).alias(name) for name, text in COUNTS.items()]


@pytest.mark.parametrize("source", ["range", "files", "aggregate", "wide"])
def test_counts_equal_those_of_an_aggregate(
    spark: SparkSession, stored: str, generated: bool, source: str
) -> None:
    df = rows(spark, stored, source)
    expected = df.agg(*counts()).collect()[0].asDict()
    found = {}
    for shape, change in SHAPES.items():
        observation = Observation()
        change(df.observe(observation, *counts())).collect()
        found[shape] = observation.get
    # A count of rows reads no column that only the query above has.
    observation = Observation()
    df.observe(observation, *counts()).count()
    found["count"] = observation.get
    assert found == dict.fromkeys(found, expected)


@pytest.mark.parametrize("times", [1, 2])
def test_an_action_does_not_add_to_the_counts_of_the_last_one(
    spark: SparkSession, generated: bool, times: int
) -> None:
    df = spark.range(0, 100, 1, 3).observe("again", F.count(F.lit(1)).alias("rows"))
    for _ in range(times):
        assert len(df.collect()) == 100
    execution: Any = df._jdf.queryExecution()
    assert execution.observedMetrics().apply("again").getLong(0) == 100


def test_the_counts_are_part_of_the_stage_that_reads_the_rows(
    spark: SparkSession, stored: str, generated: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    df = rows(spark, stored, "files").observe("part", *counts()).where("id > 3")
    df.explain()
    printed = capsys.readouterr().out
    assert ("CollectMetrics part" in printed) and (") CollectMetrics part" in printed) is generated


def test_counts_without_generated_code(spark: SparkSession, stored: str, generated: bool) -> None:
    df = rows(spark, stored, "files")
    metrics = [*counts(), F.expr(INTERPRETED).alias("interpreted")]
    observation = Observation()
    df.observe(observation, *metrics).collect()
    assert observation.get == df.agg(*metrics).collect()[0].asDict()


def test_other_metrics_keep_the_node_of_spark(
    spark: SparkSession, generated: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    observation = Observation()
    df = spark.range(10).observe(observation, F.sum("id").alias("sum"), F.count("id").alias("n"))
    df.explain()
    assert ") CollectMetrics" not in capsys.readouterr().out
    df.collect()
    assert observation.get == {"sum": 45, "n": 10}


def test_each_batch_of_a_stream_has_counts_of_its_own(
    spark: SparkSession, stored: str, generated: bool, tmp_path: Path
) -> None:
    schema = spark.read.parquet(stored).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(stored)
    query = (
        stream.observe("batch", *counts())
        .where("id % 2 = 0")
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .option("path", str(tmp_path / "out"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = [progress.observedMetrics["batch"].asDict() for progress in query.recentProgress]
    expected = rows(spark, stored, "files").agg(*counts()).collect()[0].asDict()
    assert len(found) == 4
    assert {name: sum(batch[name] for batch in found) for name in expected} == expected
