"""Rows of a table are replaced in one commit: small files are rewritten, of others the rows are marked."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeward.pipelines.storage import file_replacement
from lakeward.pipelines.storage.delta_tables import load_table
from lakeward.pipelines.storage.file_replacement import FileReplacement
from tests.pipelines.conftest import Lab

VECTORS = "'delta.enableDeletionVectors' = 'true'"
KINDS = {
    "plain": f"TBLPROPERTIES ({VECTORS})",
    "partitioned": f"PARTITIONED BY (place) TBLPROPERTIES ({VECTORS})",
    "column mapping": f"TBLPROPERTIES ({VECTORS}, 'delta.columnMapping.mode' = 'name')",
    "mapped partitions": f"PARTITIONED BY (place) TBLPROPERTIES ({VECTORS}, "
    "'delta.columnMapping.mode' = 'id')",
    "clustered": f"CLUSTER BY (id) TBLPROPERTIES ({VECTORS})",
}
# Larger than a file of five rows, smaller than one of a thousand.
LIMIT = 2500


def insert(spark: SparkSession, table: str, start: int, end: int) -> None:
    spark.sql(
        f"INSERT INTO {table} SELECT id, sha2(CAST(id AS STRING), 256), IF(id % 2 = 0, 'a b', NULL) "
        f"FROM range({start}, {end}, 1, 1)"
    )


@pytest.fixture
def kind() -> str:
    return "mapped partitions"


@pytest.fixture
def table(lab: Lab, kind: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of a thousand rows, one of five, and one of whose thousand rows most are marked."""
    monkeypatch.setattr(file_replacement, "MAX_REWRITTEN_BYTES", LIMIT)
    name = f"main.{lab.source}.replaced"
    lab.spark.sql(f"CREATE TABLE {name} (id BIGINT, text STRING, place STRING) {KINDS[kind]}")
    insert(lab.spark, name, 0, 1000)
    insert(lab.spark, name, 1000, 1005)
    insert(lab.spark, name, 2000, 3000)
    lab.spark.sql(f"DELETE FROM {name} WHERE id >= 2000 AND id < 2800")
    return name


def replace(
    spark: SparkSession, table: str, condition: str, text: str = "new"
) -> tuple[FileReplacement, int]:
    """Replace the rows that meet a condition by rows with another text; return the number of marked rows."""
    files = FileReplacement(spark, tuple(table.split(".")), condition)
    met = F.coalesce(F.expr(condition), F.lit(False))
    added = [row.asDict() | {"text": text} for row in files.rows.alias("t").where(met).collect()]
    new = spark.createDataFrame([tuple(row.values()) for row in added], files.rows.schema)
    marked = 0
    if files.markable is not None:
        marked = files.mark(files.markable.alias("t").where(met))
    kept = files.rewritten.alias("t").where(~met)
    files.write(kept.unionAll(new), len(added))
    return files, marked


def contents(rows: DataFrame) -> Counter[Any]:
    return Counter(map(tuple, rows.collect()))


def files_of(rows: DataFrame) -> set[str]:
    return {each.rpartition("/")[2] for each in rows.inputFiles()}


# With the number of rows that are marked when they are replaced one after the other, where it is the same for
# all tables.
CONDITIONS = {
    "t.id < 10": 10,
    "t.id >= 900 AND t.id < 1003": 100,
    "t.id >= 1001 AND t.id < 1004": 0,
    "t.id >= 2000": 0,
    "t.id < 5": 0,
    "t.place IS NULL AND t.id < 900": 445,
    "true": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_replaced_rows_are_those_of_the_condition(lab: Lab, table: str) -> None:
    spark = lab.spark
    for number, (condition, expected) in enumerate(CONDITIONS.items()):
        changed = F.when(F.expr(condition), str(number)).otherwise(F.col("text"))
        wanted = contents(spark.table(table).alias("t").withColumn("text", changed))
        before = contents(spark.table(table))
        files, marked = replace(spark, table, condition, str(number))
        assert contents(spark.table(table)) == before, "until the commit"
        files.commit("REFRESH", updated=marked)
        assert contents(spark.table(table)) == wanted, condition
        assert expected in (None, marked), condition
    folder = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]
    assert spark.sql(f"REORG TABLE {table} APPLY (PURGE)").count() == 1
    assert contents(spark.read.format("delta").load(folder)) == wanted


def test_a_file_is_rewritten_if_it_is_small_or_half_marked(lab: Lab, table: str) -> None:
    spark, thousand = lab.spark, files_of(lab.spark.table(table).where("id < 1000"))
    assert thousand
    files = FileReplacement(spark, tuple(table.split(".")), "")
    assert files.markable is not None and files_of(files.markable) == thousand
    assert files_of(files.rewritten) == files_of(files.rows) - thousand
    assert files.count() == 205


@pytest.mark.slow
def test_many_small_files_are_marked(lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they are as much work as a large one."""
    monkeypatch.setattr(file_replacement, "_BYTES_OF_ONE_TASK", 5000)
    for start in range(1100, 1150, 5):
        insert(lab.spark, table, start, start + 5)
    files = FileReplacement(lab.spark, tuple(table.split(".")), "t.id < 2000")
    assert files.markable is not None
    small = files_of(lab.spark.table(table).where("id BETWEEN 1000 AND 1999"))
    assert 0 < len(files_of(files.rewritten) & small) < len(small)
    assert small < files_of(files.rewritten) | files_of(files.markable)


def test_a_concurrent_change_of_the_same_rows_is_a_conflict(lab: Lab, table: str) -> None:
    files, _ = replace(lab.spark, table, "t.id < 10")
    lab.spark.sql(f"DELETE FROM {table} WHERE id = 3")
    left = contents(lab.spark.table(table))
    with pytest.raises(PySparkException, match="DELTA_CONCURRENT"):
        files.commit("REFRESH", updated=10)
    assert contents(lab.spark.table(table)) == left


DECLARED = {
    "default": ({}, {"delta.enableDeletionVectors": "true", "delta.checkpointInterval": "100"}),
    "declared": (
        {"Delta.EnableDeletionVectors": "false", "delta.checkpointinterval": "7"},
        {"delta.enableDeletionVectors": "false", "delta.checkpointInterval": "7"},
    ),
}


@pytest.mark.parametrize("case", DECLARED)
def test_a_new_view_has_deletion_vectors_and_few_checkpoints_unless_declared(lab: Lab, case: str) -> None:
    declared, wanted = DECLARED[case]
    lab.file(
        "views.py",
        f"from pyspark import pipelines as dp\n@dp.materialized_view(table_properties={declared!r})\n"
        "def v0(): return spark.range(3)\n",
    )
    lab.done()
    stored = load_table(lab.spark, ("main", lab.schema, "v0"))
    assert stored is not None
    found = {key.lower(): value for key, value in stored.properties.items()}
    assert {key: found.get(key.lower()) for key in wanted} == wanted
    rows = lab.spark.sql(f"SHOW TBLPROPERTIES main.{lab.schema}.v0").collect()
    shown = {row["key"].lower() for row in rows}
    assert ("delta.checkpointinterval" in shown) == (case == "declared")
