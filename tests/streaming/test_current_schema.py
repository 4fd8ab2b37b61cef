"""Functions of `foreachBatch` have the current catalog and schema of the session that starts the stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeward.session import ensure_schema, private_tables

SET: dict[str, Callable[[SparkSession, str], object]] = {
    "use_both": lambda spark, schema: [spark.sql("USE CATALOG dev"), spark.sql(f"USE SCHEMA {schema}")],
    "use_name": lambda spark, schema: spark.sql(f"USE dev.{schema}"),
    "methods": lambda spark, schema: [
        spark.catalog.setCurrentCatalog("dev"),
        spark.catalog.setCurrentDatabase(schema),
    ],
}
USES: dict[str, Callable[[DataFrame], Any]] = {
    "saveAsTable": lambda df: df.write.mode("append").saveAsTable("written"),
    "insertInto": lambda df: df.write.insertInto("target"),
    "writeTo": lambda df: df.writeTo("target").append(),
    "unusual name": lambda df: df.write.mode("append").saveAsTable("`a-b`"),
    "function": lambda df: df.selectExpr("twice(id)").collect(),
    "outer view": lambda df: df.sparkSession.table("of_the_session").collect(),
    "table": lambda df: df.sparkSession.table("target").collect(),
    "sql": lambda df: df.sparkSession.sql("INSERT INTO target VALUES (9)"),
    "merge": lambda df: (
        df.createOrReplaceTempView("batch"),
        df.sparkSession.sql(
            "MERGE INTO target t USING batch b ON t.id = b.id WHEN NOT MATCHED THEN INSERT *"
        ),
    ),
    "forName": lambda df: _delta(df.sparkSession, "target").toDF().collect(),
    "exists": lambda df: _true(df.sparkSession.catalog.tableExists("target")),
    "current": lambda df: _true(
        df.sparkSession.sql("SELECT current_catalog() || '.' || current_schema()").first()[0]
        == f"{df.sparkSession.catalog.currentCatalog()}.{df.sparkSession.catalog.currentDatabase()}"
    ),
}


def _delta(spark: SparkSession, name: str) -> Any:
    from delta.tables import DeltaTable

    return DeltaTable.forName(spark, name)


def _true(value: bool) -> None:
    assert value


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A schema of dev with an empty table; the session's own one is current again after the test."""
    before = (spark.catalog.currentCatalog(), spark.catalog.currentDatabase())
    name = f"s_{tmp_path.name}".lower()
    ensure_schema(spark, "dev", name)
    spark.sql(f"CREATE TABLE dev.{name}.target (id INT)")
    spark.sql(f"CREATE FUNCTION dev.{name}.twice(x INT) RETURNS INT RETURN 2 * x")
    spark.range(1).createOrReplaceTempView("of_the_session")
    yield name
    spark.catalog.dropTempView("of_the_session")
    spark.catalog.setCurrentCatalog(before[0])
    spark.catalog.setCurrentDatabase(before[1])
    spark.sql(f"DROP SCHEMA dev.{name} CASCADE")


def source(spark: SparkSession, kind: str, folder: Path) -> DataFrame:
    """Return a stream of one row."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "a.json").write_text(json.dumps({"id": 1}))
    if kind == "files":
        return spark.readStream.schema("id INT").json(str(folder / "in"))
    reader = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json")
    return reader.schema("id INT").load(str(folder / "in"))


def run(stream: DataFrame, function: Callable[[DataFrame, int], Any], checkpoint: Path) -> Any:
    writer = stream.writeStream.foreachBatch(function).option("checkpointLocation", str(checkpoint))
    return writer.trigger(availableNow=True).start()


@pytest.mark.parametrize("way", SET)
def test_each_use_of_a_name_has_the_current_schema(
    spark: SparkSession, schema: str, way: str, tmp_path: Path
) -> None:
    SET[way](spark, schema)
    found: dict[str, str] = {}

    def batch(df: DataFrame, _: int) -> None:
        for name, use in USES.items():
            try:
                use(df)
            except Exception as error:  # noqa: BLE001  # all failures are shown together
                found[name] = str(error)

    for kind in ("files", "cloudFiles"):
        run(source(spark, kind, tmp_path), batch, tmp_path / kind).awaitTermination()
        assert found == {}, kind
    assert spark.table(f"dev.{schema}.written").count() == 2
    assert spark.table(f"dev.{schema}.target").count() == 3 * 2


def test_a_later_change_of_the_session_does_not_reach_the_stream(
    spark: SparkSession, schema: str, tmp_path: Path
) -> None:
    spark.sql(f"USE dev.{schema}")
    current: list[str] = []
    query = run(
        source(spark, "files", tmp_path),
        lambda df, _: current.append(df.sparkSession.catalog.currentDatabase()),
        tmp_path / "checkpoint",
    )
    spark.sql("USE main.default")
    query.awaitTermination()
    assert current == [schema]


def test_the_catalog_of_a_stream_is_not_that_of_the_session(
    spark: SparkSession, schema: str, tmp_path: Path
) -> None:
    """A catalog reads settings of the session that is active when it is loaded: here, of private tables."""
    spark.sql(f"USE dev.{schema}")

    def batch(df: DataFrame, _: int) -> None:
        with private_tables(df.sparkSession, "a stream", [("dev", schema, "hidden")]):
            df.write.saveAsTable("hidden")
            assert df.sparkSession.table("hidden").count() == 1

    run(source(spark, "files", tmp_path), batch, tmp_path / "checkpoint").awaitTermination()
    assert not spark.catalog.tableExists("hidden")
