"""`clusterBy` of every writer makes a table with these clustering columns."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

WRITERS: dict[str, Callable[[DataFrame, str], object]] = {
    "save": lambda rows, name: rows.write.clusterBy("b", "a").saveAsTable(name),
    "append": lambda rows, name: (
        rows.write.format("delta").clusterBy("b", "a").mode("append").saveAsTable(name)
    ),
    "overwrite": lambda rows, name: rows.write.clusterBy("b", "a").mode("overwrite").saveAsTable(name),
    "create": lambda rows, name: rows.writeTo(name).using("delta").clusterBy("b", "a").create(),
    "replace": lambda rows, name: rows.writeTo(name).clusterBy("b", "a").createOrReplace(),
}


def _clustering(spark: SparkSession, table: str) -> list[str]:
    return list(spark.sql(f"DESCRIBE DETAIL {table}").select("clusteringColumns").collect()[0][0])


@pytest.mark.parametrize("kind", WRITERS)
def test_a_table_has_the_clustering_columns(spark: SparkSession, kind: str) -> None:
    table = f"main.default.c_{uuid.uuid4().hex[:8]}"
    try:
        WRITERS[kind](spark.range(3).selectExpr("id AS a", "id AS b", "id AS c"), table)
        assert _clustering(spark, table) == ["b", "a"]
        assert spark.table(table).count() == 3
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {table}")


def test_overwrite_changes_the_columns(spark: SparkSession) -> None:
    table = f"main.default.c_{uuid.uuid4().hex[:8]}"
    rows = spark.range(3).selectExpr("id AS a", "id AS b")
    try:
        rows.write.clusterBy("a").saveAsTable(table)
        rows.write.clusterBy("b").mode("overwrite").option("overwriteSchema", "true").saveAsTable(table)
        assert _clustering(spark, table) == ["b"]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {table}")


@pytest.mark.parametrize("option", ["true", "false", ""])
@pytest.mark.parametrize("layout", ["", "CLUSTER BY (a)", "CLUSTER BY (b)", "PARTITIONED BY (a)"])
def test_overwrite_clusters_a_table_of_any_layout(spark: SparkSession, layout: str, option: str) -> None:
    """The rows of a table are overwritten; its properties and history remain."""
    table = f"main.default.c_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {table} (a BIGINT, b BIGINT) {layout} TBLPROPERTIES ('own' = 'x')")
    spark.sql(f"INSERT INTO {table} VALUES (7, 8)")
    writer = spark.range(3).selectExpr("id AS a", "id AS b").write.clusterBy("b").mode("overwrite")
    try:
        if option:
            writer = writer.option("overwriteSchema", option)
        if layout.startswith("PART") and option != "true":
            with pytest.raises(PySparkException) as raised:
                writer.saveAsTable(table)
            assert raised.value.getCondition() == "DELTA_METADATA_MISMATCH"
            assert spark.table(table).count() == 1
            return
        writer.saveAsTable(table)
        writer.saveAsTable(table)
        detail = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
        assert (detail["clusteringColumns"], detail["partitionColumns"]) == (["b"], [])
        assert detail["properties"]["own"] == "x"
        assert spark.table(table).count() == 3
        assert spark.sql(f"SELECT * FROM {table} VERSION AS OF 1").collect() == [(7, 8)]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {table}")


def test_a_stream_makes_a_clustered_table(spark: SparkSession, tmp_path: Path) -> None:
    source, table = str(tmp_path / "in"), f"main.default.c_{uuid.uuid4().hex[:8]}"
    spark.range(2).write.format("delta").save(source)
    try:
        writer = spark.readStream.format("delta").load(source).writeStream.clusterBy("id")
        query = (
            writer.option("checkpointLocation", str(tmp_path / "cp"))
            .trigger(availableNow=True)
            .toTable(table)
        )
        query.awaitTermination()
        assert _clustering(spark, table) == ["id"]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {table}")
