"""CREATE TABLE … LIKE … COPY LOCATION: another table of the files of an external one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

SOURCE, TARGET = "hive_metastore.old_sales", "main.new_sales"
FORMATS = ("delta", "parquet", "csv", "json", "orc", "avro")


@pytest.fixture
def schemas(spark: SparkSession) -> Iterator[None]:
    for name in (SOURCE, TARGET):
        spark.sql(f"CREATE SCHEMA {name}")
    yield
    for name in (SOURCE, TARGET):
        spark.sql(f"DROP SCHEMA {name} CASCADE")


def about(spark: SparkSession, table: str) -> dict[str, str]:
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
    return {row.col_name: row.data_type for row in rows if row.col_name in ("Provider", "Location", "Type")}


@pytest.mark.usefixtures("schemas")
@pytest.mark.parametrize("kind", FORMATS)
def test_both_tables_have_the_same_files(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    source, target = f"{SOURCE}.t", f"{TARGET}.t"
    spark.sql(f"CREATE TABLE {source} (id INT, name STRING) USING {kind} LOCATION '{tmp_path}/files'")
    spark.sql(f"INSERT INTO {source} VALUES (1, 'a')")
    spark.sql(f"CREATE TABLE {target} LIKE {source} COPY LOCATION")
    assert spark.table(target).dtypes == [("id", "int"), ("name", "string")]
    assert about(spark, target) == about(spark, source)
    assert about(spark, target)["Type"] == "EXTERNAL"
    spark.sql(f"INSERT INTO {target} VALUES (2, 'b')")
    spark.sql(f"REFRESH TABLE {source}")
    for table in (source, target):
        assert spark.table(table).orderBy("id").collect() == [Row(id=1, name="a"), Row(id=2, name="b")]
    spark.sql(f"DROP TABLE {target}")
    assert spark.table(source).count() == 2


@pytest.mark.usefixtures("schemas")
def test_options_of_the_files_are_those_of_the_source(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id;name\n1;a\n")
    spark.sql(
        f"CREATE TABLE {SOURCE}.t (id INT, name STRING) USING csv OPTIONS (header 'true', sep ';') "
        f"LOCATION '{tmp_path}'"
    )
    spark.sql(f"CREATE TABLE {TARGET}.t LIKE {SOURCE}.t COPY LOCATION")
    assert spark.table(f"{TARGET}.t").collect() == [Row(id=1, name="a")]


@pytest.mark.usefixtures("schemas")
def test_an_existing_table_stays_and_a_missing_one_is_named(spark: SparkSession, tmp_path: Path) -> None:
    statement = f"CREATE TABLE {{}}{TARGET}.t LIKE {SOURCE}.{{}} COPY LOCATION"
    with pytest.raises(AnalysisException, match=r"old_sales.*nothing") as missing:
        spark.sql(statement.format("", "nothing"))
    assert missing.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
    spark.sql(f"CREATE TABLE {SOURCE}.t (id INT) LOCATION '{tmp_path}/t'")
    spark.sql(f"CREATE TABLE {TARGET}.t AS SELECT 7 AS id")
    spark.sql(statement.format("IF NOT EXISTS ", "t"))
    assert spark.table(f"{TARGET}.t").collect() == [Row(id=7)]
    with pytest.raises(AnalysisException) as existing:
        spark.sql(statement.format("", "t"))
    assert existing.value.getCondition() == "TABLE_OR_VIEW_ALREADY_EXISTS"
