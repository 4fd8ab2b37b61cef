"""Writers may overwrite files that their query reads: the rows are not lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

FORMATS = ("parquet", "json", "csv", "orc")
VOLUME = "/Volumes/main/default/overwritten"
SPELLINGS = ("{}", "dbfs:{}", "/dbfs{}", "{}/", "{}/../rows")


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    for name in FORMATS:
        spark.range(4).withColumn("part", F.expr("id % 2")).write.format(name).save(str(tmp_path / name))
    return tmp_path


def _read(spark: SparkSession, path: str, form: str = "parquet") -> DataFrame:
    return spark.read.format(form).schema("id BIGINT, part BIGINT").load(path)


def _ids(frame: DataFrame) -> list[int]:
    return sorted(row["id"] for row in frame.collect())


@pytest.mark.parametrize("form", FORMATS)
def test_rows_of_each_format_remain(spark: SparkSession, folder: Path, form: str) -> None:
    path = str(folder / form)
    _read(spark, path, form).withColumn("id", F.expr("id + 1")).write.mode("overwrite").format(form).save(
        path
    )
    assert _ids(_read(spark, path, form)) == [1, 2, 3, 4]


@pytest.mark.parametrize("written", SPELLINGS)
@pytest.mark.parametrize("read", SPELLINGS[:2])
def test_every_spelling_of_the_folder_is_the_same_one(spark: SparkSession, read: str, written: str) -> None:
    spark.sql("CREATE VOLUME IF NOT EXISTS main.default.overwritten")
    path = f"{VOLUME}/rows"
    spark.range(4).withColumn("part", F.lit(1)).write.mode("overwrite").parquet(path)
    rows = _read(spark, read.format(path)).where("id > 1")
    rows.write.mode("overwrite").parquet(written.format(path))
    assert _ids(_read(spark, path)) == [2, 3]


def test_partitions_and_a_folder_above_or_below(spark: SparkSession, folder: Path) -> None:
    path = folder / "parquet"
    _read(spark, str(path)).write.mode("overwrite").partitionBy("part").parquet(str(path))
    assert _ids(_read(spark, str(path))) == [0, 1, 2, 3]
    _read(spark, str(path)).where("part = 1").drop("part").write.mode("overwrite").parquet(f"{path}/part=1")
    assert _ids(_read(spark, str(path))) == [0, 1, 2, 3]
    _read(spark, str(path)).where("id < 2").write.mode("overwrite").parquet(str(path))
    assert _ids(_read(spark, str(path))) == [0, 1]


def test_a_subquery_reads_the_folder(spark: SparkSession, folder: Path) -> None:
    path = str(folder / "parquet")
    _read(spark, path).createOrReplaceTempView("overwritten")
    rows = spark.sql(
        "SELECT id, id AS part FROM range(4) WHERE id IN (SELECT id FROM overwritten WHERE part = 1)"
    )
    rows.write.mode("overwrite").parquet(path)
    assert _ids(_read(spark, path)) == [1, 3]


def test_a_join_of_the_folder_with_another(spark: SparkSession, folder: Path) -> None:
    path = str(folder / "parquet")
    rows = (
        _read(spark, path)
        .join(_read(spark, str(folder / "orc"), "orc"), "id")
        .select("id", F.lit(1).alias("part"))
    )
    rows.write.mode("overwrite").parquet(path)
    assert _ids(_read(spark, path)) == [0, 1, 2, 3]
