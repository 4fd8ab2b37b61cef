"""Streams of Delta tables have the hidden column `_metadata`, as batch queries of them do."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.streaming.conftest import Streams


def name() -> Column:
    """Return the column; made at import it would start a JVM in workers that need none."""
    return F.col("_metadata.file_name")


FRAMES: dict[str, Callable[[SparkSession, str, str], DataFrame]] = {
    "load": lambda s, _, path: s.readStream.format("delta").load(path).withColumn("f", name()),
    "option path": lambda s, _, path: s.readStream.load(path=path, format="delta").select(
        "id", name().alias("f")
    ),
    "one file per batch": lambda s, _, path: (
        s.readStream.format("delta")
        .option("MAXFILESPERTRIGGER", 1)
        .load(path)
        .select("id", name().alias("f"))
    ),
    "table": lambda s, t, _: s.readStream.table(t).select("id", name().alias("f")),
    "table of a reader": lambda s, t, _: (
        s.readStream.option("skipChangeCommits", True).table(t).select("id", name().alias("f"))
    ),
    "below other columns": lambda s, t, _: (
        s.readStream.table(t).select("id").where("id > 0").withColumn("f", name())
    ),
    "alias": lambda s, t, _: (
        s.readStream.table(t).alias("a").select("a.id", F.col("a._metadata.file_name").alias("f"))
    ),
    "union": lambda s, t, _: (
        s.readStream.table(t)
        .select("id", name().alias("f"))
        .union(s.readStream.table(t).select("id", name().alias("f")))
    ),
    "SQL": lambda s, t, _: s.sql(f"SELECT id, _metadata.file_name AS f FROM STREAM({t})"),
    "SQL of a path": lambda s, _, path: s.sql(
        f"SELECT id, a._metadata.file_name AS f FROM STREAM delta.`{path}` a"
    ),
}


@pytest.mark.parametrize("form", FRAMES)
def test_a_stream_of_a_delta_table_knows_the_file_of_each_row(streams: Streams, form: str) -> None:
    spark, table = streams.spark, streams.table
    path = DeltaTable.forName(spark, table).detail().first()["location"]
    expected = {tuple(row) for row in spark.table(table).select("id", name()).collect()}
    rows = spark.table(streams.run(FRAMES[form](spark, table, path), "append", {"availableNow": True}))
    assert {(row["id"], row["f"]) for row in rows.collect()} == expected


def test_the_column_is_there_when_named_and_nowhere_else(streams: Streams) -> None:
    whole = streams.stream()
    assert whole.columns == ["id", "at", "k"]
    assert whole.withColumn("f", name()).columns == ["id", "at", "k", "f"]
    assert whole.select("*", "_metadata").columns == ["id", "at", "k", "_metadata"]
    rows = streams.spark.table(streams.run(whole, "append", {"availableNow": True}))
    assert rows.columns == ["id", "at", "k"]


@pytest.mark.parametrize("tracked", [True, False], ids=["row tracking", "no row tracking"])
def test_its_fields_and_values_are_those_of_a_batch_query(streams: Streams, tracked: bool) -> None:
    spark = streams.spark
    table = f"main.default.files_{uuid.uuid4().hex[:8]}"
    properties = "'delta.enableDeletionVectors' = 'true'" + (
        ", 'delta.enableRowTracking' = 'true'" if tracked else ""
    )
    spark.sql(f"CREATE TABLE {table} (id INT) TBLPROPERTIES ({properties})")
    spark.range(0, 6, 1, 1).selectExpr("CAST(id AS INT) id").write.insertInto(table)
    spark.sql(f"DELETE FROM {table} WHERE id IN (1, 3)")
    spark.sql(f"INSERT INTO {table} VALUES (7)")
    batch = spark.table(table).select("id", "_metadata.*")
    stream = spark.readStream.table(table).select("id", "_metadata.*")
    assert stream.schema == batch.schema
    assert ("row_id" in stream.columns) == tracked
    rows = spark.table(streams.run(stream, "append", {"availableNow": True}))

    def values(df: DataFrame) -> list[Any]:
        return sorted(map(tuple, df.collect()))

    assert values(rows) == values(batch)


def test_a_column_of_the_table_with_this_name_wins(streams: Streams) -> None:
    spark = streams.spark
    table = f"main.default.files_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {table} AS SELECT 1 AS id, 'mine' AS _metadata")
    rows = spark.table(
        streams.run(spark.readStream.table(table).select("_metadata"), "append", {"availableNow": True})
    )
    assert [tuple(row) for row in rows.collect()] == [("mine",)]


def test_the_change_data_feed_has_no_such_column(streams: Streams) -> None:
    spark = streams.spark
    spark.sql(f"ALTER TABLE {streams.table} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    path = DeltaTable.forName(spark, streams.table).detail().first()["location"]
    feed = spark.readStream.format("delta").option("readChangeFeed", "true").option("startingVersion", 1)
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        feed.load(path).select("_metadata.file_name")
