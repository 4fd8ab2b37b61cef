"""What code written for open-source Spark says of its session catalog, in a session of ours."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from lakeward.session import ensure_catalog
from tests.lanes import sampled

DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    """A session as the conftest.py of most repositories builds it."""
    ensure_catalog(spark, "dev")
    builder = SparkSession.builder.config("spark.sql.catalog.spark_catalog", DELTA)
    return builder.create()  # type: ignore[no-any-return]  # the hook's, which PySpark does not type


@pytest.fixture
def schema(own: SparkSession) -> Iterator[str]:
    name = f"s_{uuid.uuid4().hex[:8]}"
    own.sql(f"CREATE DATABASE {name}")
    yield name
    own.sql(f"DROP DATABASE {name} CASCADE")


def test_tables_of_spark_catalog_and_those_without_a_catalog_are_the_same(
    own: SparkSession, schema: str
) -> None:
    own.sql(f"CREATE TABLE {schema}.t AS SELECT 1 AS id")
    own.range(5, 6).selectExpr("int(id) AS id").write.mode("append").saveAsTable(f"spark_catalog.{schema}.t")
    DeltaTable.forName(own, f"spark_catalog.{schema}.t").delete("id = 1")
    names = (f"{schema}.t", f"spark_catalog.{schema}.t", f"SPARK_CATALOG.{schema}.T", f"main.{schema}.t")
    assert [own.catalog.tableExists(name) for name in names] == [True] * 4
    assert (
        own.sql(" UNION ALL ".join(f"SELECT t.id FROM {name} AS t" for name in names)).collect() == [(5,)] * 4
    )


@pytest.mark.parametrize("name", ["{0}.made", "dev.{0}.made"])
def test_deltas_builder_makes_a_table_of_any_name(own: SparkSession, schema: str, name: str) -> None:
    own.sql(f"CREATE SCHEMA IF NOT EXISTS dev.{schema}")
    full = name.format(schema)
    for _ in range(2):
        builder = DeltaTable.createIfNotExists(own).tableName(full).addColumn("a", "INT")
        made = builder.property("delta.enableChangeDataFeed", "true").execute()
    own.sql(f"INSERT INTO {full} VALUES (1)")
    assert made.toDF().collect() == own.table(full).collect() == [(1,)]
    assert own.catalog.currentCatalog() == "main"
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
        DeltaTable.create(own).tableName(full).addColumn("a", "INT").execute()
    assert DeltaTable.replace(own).tableName(full).addColumn("b", "INT").execute().toDF().columns == ["b"]
    own.sql(f"DROP SCHEMA dev.{schema} CASCADE")


def test_views_and_functions_are_found_under_both_names(own: SparkSession, schema: str) -> None:
    own.sql(f"CREATE VIEW spark_catalog.{schema}.v AS SELECT 3 AS n")
    own.sql(f"CREATE FUNCTION spark_catalog.{schema}.twice(x INT) RETURNS INT RETURN x * 2")
    assert own.table(f"{schema}.v").first() == (3,)
    assert own.sql(f"SELECT {schema}.twice(2), spark_catalog.{schema}.twice(n) FROM {schema}.v").first() == (
        4,
        6,
    )
    own.sql(f"DROP FUNCTION {schema}.twice")
    own.sql(f"DROP VIEW spark_catalog.{schema}.v")
    assert not own.catalog.tableExists(f"{schema}.v")


def test_a_missing_database_is_made_by_either_name(own: SparkSession, schema: str) -> None:
    own.sql(f"CREATE DATABASE spark_catalog.{schema}_2")
    assert own.catalog.databaseExists(f"{schema}_2")
    assert (f"{schema}_2",) in [tuple(row) for row in own.sql("SHOW DATABASES IN spark_catalog").collect()]
    own.sql(f"DROP DATABASE {schema}_2")


def test_spark_catalog_can_be_made_the_current_one(own: SparkSession, schema: str) -> None:
    own.sql(f"CREATE VIEW {schema}.t AS SELECT 1 AS id")
    for back in (
        lambda: own.catalog.setCurrentCatalog("spark_catalog"),
        lambda: own.sql("USE CATALOG spark_catalog"),
        lambda: own.sql(f"USE spark_catalog.{schema}"),
    ):
        own.sql("USE CATALOG dev")
        assert not own.catalog.tableExists(f"{schema}.t")
        back()
        assert own.catalog.tableExists(f"{schema}.t")


def test_catalogs_that_are_made_later_have_tables_of_their_own(own: SparkSession, schema: str) -> None:
    late = f"late_{uuid.uuid4().hex[:8]}"
    own.sql(f"CREATE CATALOG {late}")
    own.sql(f"CREATE SCHEMA {late}.{schema}")
    own.range(2).write.saveAsTable(f"{late}.{schema}.t")
    assert own.table(f"{late}.{schema}.t").count() == 2
    assert not own.catalog.tableExists(f"{schema}.t")
    assert own.table("samples.nyctaxi.trips").columns[0] == "tpep_pickup_datetime"
    own.sql(f"DROP CATALOG {late} CASCADE")


@pytest.mark.slow
def test_a_batch_of_a_stream_finds_the_names_too(own: SparkSession, schema: str, tmp_path: Path) -> None:
    own.range(3).write.saveAsTable(f"{schema}.source")
    own.range(0).write.saveAsTable(f"{schema}.target")

    def keep(batch: DataFrame, _: int) -> None:
        batch.createOrReplaceTempView("batch")
        batch.sparkSession.sql(f"INSERT INTO spark_catalog.{schema}.target SELECT * FROM batch")

    stream = own.readStream.table(f"spark_catalog.{schema}.source").writeStream.foreachBatch(keep)
    stream.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start().awaitTermination()
    assert own.table(f"{schema}.target").count() == 3


def test_without_that_setting_spark_catalog_is_apart(spark: SparkSession) -> None:
    name = f"s_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_FOUND"):
        spark.sql(f"CREATE TABLE spark_catalog.{name}.t (id INT)")
    spark.sql(f"DROP SCHEMA {name}")


@pytest.mark.usefixtures("generated_code")
@pytest.mark.parametrize("catalog", ["main", "dev", "spark_catalog"])
def test_global_temporary_views_are_listed_from_within_every_catalog(
    spark: SparkSession, catalog: str
) -> None:
    ensure_catalog(spark, "dev")
    name = f"g_{uuid.uuid4().hex[:8]}"
    spark.range(2).createGlobalTempView(name)
    spark.catalog.setCurrentCatalog(catalog)
    try:
        shown = [row for row in spark.sql("SHOW TABLES IN global_temp").collect() if row.tableName == name]
        assert [(row.database, row.isTemporary) for row in shown] == [("global_temp", True)]
        assert spark.sql(f"SHOW TABLES IN GLOBAL_TEMP LIKE '{name}*'").count() == 1
        listed = [each for each in spark.catalog.listTables("global_temp") if each.name == name]
        assert [(each.namespace, each.isTemporary) for each in listed] == [(["global_temp"], True)]
        spark.catalog.dropGlobalTempView(name)
        assert name not in [row.tableName for row in spark.sql("SHOW TABLES IN global_temp").collect()]
    finally:
        spark.catalog.setCurrentCatalog("main")
        spark.catalog.dropGlobalTempView(name)


@pytest.mark.usefixtures("generated_code")
@pytest.mark.parametrize("catalog", sampled(["main", "dev"], "dev"))
def test_tables_of_a_schema_of_one_part_are_those_of_the_current_catalog(
    spark: SparkSession, catalog: str
) -> None:
    ensure_catalog(spark, "dev")
    spark.sql("CREATE SCHEMA IF NOT EXISTS dev.default")
    table, view, schema = (f"{each}_{uuid.uuid4().hex[:8]}" for each in "tvs")
    spark.catalog.setCurrentCatalog(catalog)
    try:
        spark.sql(f"CREATE SCHEMA {schema}")
        for name in (f"default.{table}", f"{schema}.{table}"):
            spark.sql(f"CREATE TABLE {name} AS SELECT 1 AS a")
        spark.range(1).createOrReplaceTempView(view)
        for listed in (
            spark.catalog.listTables("default"),
            spark.catalog.listTables(schema),
            spark.catalog.listTables(f"{catalog}.default"),
            spark.catalog.listTables("default", f"{table}*"),
        ):
            found = [(each.catalog, each.isTemporary) for each in listed if each.name == table]
            assert found == [(catalog, False)]
        spark.sql("USE SCHEMA default")
        names = [each.name for each in spark.catalog.listTables()]
        assert table in names and names.count(view) == 1
        with pytest.raises(AnalysisException, match="SCHEMA_NOT_FOUND"):
            spark.catalog.listTables("absent")
        for name in ("default", schema):
            for spelling in (name, name.upper(), f"`{name}`", f"{catalog}.{name}", f"`{catalog}`.`{name}`"):
                assert spark.catalog.databaseExists(spelling)
                database = spark.catalog.getDatabase(spelling)
                assert (database.catalog, database.name.lower()) == (catalog, name), spelling
                for find in (f"{spelling}.{table}", f"{spelling}.`{table}`"):
                    assert spark.catalog.tableExists(find), find
                    assert spark.catalog.getTable(find).catalog == catalog, find
                    assert [each.name for each in spark.catalog.listColumns(find)] == ["a"], find
                listed = [each.catalog for each in spark.catalog.listTables(spelling) if each.name == table]
                assert listed == [catalog], spelling
    finally:
        spark.catalog.dropTempView(view)
        spark.sql(f"DROP TABLE IF EXISTS default.{table}")
        spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        spark.sql("USE main.default")


def test_functions_of_foreach_batch_have_the_same_tables(
    own: SparkSession, schema: str, tmp_path: Path
) -> None:
    """Spark clones the session for a stream."""
    own.sql(f"CREATE TABLE {schema}.t AS SELECT 1 AS id")
    found: list[int] = []

    def batch(df: DataFrame, _: int) -> None:
        df.write.mode("append").saveAsTable(f"spark_catalog.{schema}.t")
        found.append(df.sparkSession.table(f"{schema}.t").count())

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"id": 2}')
    stream = own.readStream.schema("id INT").json(str(tmp_path / "in")).writeStream.foreachBatch(batch)
    stream.option("checkpointLocation", str(tmp_path / "c")).trigger(
        availableNow=True
    ).start().awaitTermination()
    assert found == [2]
    assert own.table(f"main.{schema}.t").count() == 2
