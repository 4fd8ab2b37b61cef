"""The stand-ins on a real session."""

from __future__ import annotations

import importlib
import json
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.types import StructType

from lakeward import databricks_shims
from lakeward.databricks_shims.surroundings import TABLES
from lakeward.dbutils import DBUtils
from lakeward.errors import DbutilsError
from lakeward.session.runtimes.profiles import DEFAULT_PROFILE
from lakeward.testing import Lakehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINE = """
from pyspark import pipelines as dp
from pyspark.dbutils import DBUtils
from databricks.sdk.runtime import spark as imported

spark.range(1).display()
names = [entry.name for entry in dbutils.fs.ls("/Volumes/main/default/landing")]
assert DBUtils(spark).fs.ls("/Volumes/main/default/landing")

@dp.materialized_view
def listed():
    return imported.createDataFrame([(name,) for name in names], "name string")
"""


def test_the_runtimes_names_lead_to_the_session_in_force(spark: SparkSession, lakehouse: Lakehouse) -> None:
    runtime = importlib.import_module("databricks.sdk.runtime")
    lakehouse.seed("t", [(1,), (2,)], "id bigint")
    assert runtime.spark.table("t").count() == 2
    assert runtime.table("t").count() == 2
    assert runtime.sql("select max(id) as m from {t}", t=runtime.table("t")).first().m == 2
    assert runtime.sc.parallelize([1, 2]).sum() == 3
    assert runtime.sqlContext.sql("select 1").count() == 1
    double = runtime.udf(lambda x: x * 2, "bigint")
    assert [row[0] for row in runtime.table("t").select(double("id")).orderBy("id").collect()] == [2, 4]


def test_what_takes_a_session_takes_the_stand_in(spark: SparkSession, lakehouse: Lakehouse) -> None:
    from delta.tables import DeltaTable

    runtime = importlib.import_module("databricks.sdk.runtime")
    lakehouse.seed("t", [(1,)], "id bigint")
    assert DeltaTable.forName(runtime.spark, "t").toDF().count() == 1


def test_display_and_summarize_print_tables(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    df = spark.createDataFrame([(1, "a"), (2, None)], "id bigint, name string")
    databricks_shims.display(df)
    shown = capsys.readouterr().out.splitlines()
    assert shown[1] == "| id|name|"
    assert shown[4] == "|  2|NULL|"
    DBUtils().data.summarize(df)
    assert "|count|2|1|" in capsys.readouterr().out.replace(" ", "")
    DBUtils().data.summarize(df, precise=True)
    assert "count_distinct" in capsys.readouterr().out
    stream = spark.readStream.format("rate").load()
    databricks_shims.display(stream)
    assert capsys.readouterr().out.startswith("A stream of timestamp, value")
    with pytest.raises(DbutilsError, match="streaming frames have no end"):
        DBUtils().data.summarize(stream)


def test_data_frames_have_display(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    df = spark.createDataFrame([(1, "a")], "id bigint, display string")
    df.display()
    by_method = capsys.readouterr().out
    databricks_shims.display(df)
    assert by_method == capsys.readouterr().out
    assert "|  1|" in by_method
    df.groupBy("id").count().display()
    assert "|count|" in capsys.readouterr().out.replace(" ", "")
    spark.readStream.format("rate").load().display(streamName="s")
    assert capsys.readouterr().out.startswith("A stream of timestamp, value")


def test_a_pipelines_files_have_dbutils_and_display(
    lakehouse: Lakehouse, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (lakehouse.volume("landing") / "a.json").write_text("{}")
    source = tmp_path_factory.mktemp("pipeline") / "listed.py"
    source.write_text(PIPELINE)
    update = lakehouse.run(source)
    assert update.state == "COMPLETED", update
    assert [row.name for row in lakehouse.table("listed").collect()] == ["a.json"]


def test_code_finds_the_clusters_settings_and_may_set_its_own(spark: SparkSession) -> None:
    tags = json.loads(spark.conf.get("spark.databricks.clusterUsageTags.clusterAllTags") or "")
    assert {"key": "ClusterName", "value": "lakeward"} in tags
    assert spark.conf.get("spark.databricks.workspaceUrl") == "lakeward.localhost"
    assert str(spark.conf.get("spark.databricks.clusterUsageTags.sparkVersion")).startswith(
        f"{DEFAULT_PROFILE}.x-scala"
    )
    spark.conf.set("spark.databricks.workspaceUrl", "adb-1.azuredatabricks.net")
    assert spark.conf.get("spark.databricks.workspaceUrl") == "adb-1.azuredatabricks.net"
    assert spark.newSession().conf.get("spark.databricks.workspaceUrl") == "lakeward.localhost"
    spark.conf.set("spark.databricks.workspaceUrl", "lakeward.localhost")


def test_taxi_trips_are_made_on_request_and_always_the_same(lakehouse: Lakehouse) -> None:
    spark, warehouse = lakehouse.spark, lakehouse.settings.warehouse
    assert not (warehouse / "samples").exists()
    trips = spark.table("samples.nyctaxi.trips")
    assert trips.dtypes == [
        ("tpep_pickup_datetime", "timestamp"),
        ("tpep_dropoff_datetime", "timestamp"),
        ("trip_distance", "double"),
        ("fare_amount", "double"),
        ("pickup_zip", "int"),
        ("dropoff_zip", "int"),
    ]
    assert trips.where("tpep_pickup_datetime >= tpep_dropoff_datetime or fare_amount <= 0").isEmpty()
    digest = "select count(*), sum(xxhash64(*) % 1000003) from samples.nyctaxi.trips"
    first = spark.sql(digest).first()
    assert first is not None and first[0] == 2000
    spark.sql("drop table samples.nyctaxi.trips")
    assert not (warehouse / "samples/nyctaxi/trips").exists()
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        assert spark.sql(digest).first() == first
    finally:
        spark.conf.set("spark.sql.session.timeZone", "Etc/UTC")
    assert spark.readStream.table("samples.nyctaxi.trips").isStreaming
    # The dropped table can be undropped; nothing else remains of the two attempts.
    assert [each.name for each in (warehouse / "samples/nyctaxi").glob(".*")] == [".dropped"]


def test_every_definition_of_a_table_is_one(spark: SparkSession) -> None:
    for file in sorted(TABLES.rglob("*.*")):
        text = file.read_text()
        columns = spark.sql(text).schema if file.suffix == ".sql" else StructType.fromDDL(text)
        assert len(columns.fields) >= 3, file  # type: ignore[attr-defined]  # of columns it is a StructType


@pytest.mark.slow
def test_every_sample_and_system_table_can_be_read(lakehouse: Lakehouse) -> None:
    spark = lakehouse.spark
    for file in sorted(TABLES.rglob("*.*")):
        catalog, schema = file.parts[-3:-1]
        name = f"{catalog}.{schema}.{file.stem}"
        assert spark.catalog.tableExists(name), name
        assert spark.table(name).isEmpty() == (catalog == "system"), name


def test_keys_of_the_order_tables_lead_somewhere(lakehouse: Lakehouse) -> None:
    spark = lakehouse.spark
    spark.catalog.setCurrentCatalog("samples")
    try:
        joined = spark.sql(
            """
            select count(*) as lines, count(distinct r_name) as regions
            from tpch.lineitem join tpch.orders on l_orderkey = o_orderkey
            join tpch.customer on o_custkey = c_custkey join tpch.nation on c_nationkey = n_nationkey
            join tpch.region on n_regionkey = r_regionkey join tpch.part on l_partkey = p_partkey
            join tpch.supplier on l_suppkey = s_suppkey
            """
        ).first()
        assert joined is not None
        assert joined.lines == spark.table("tpch.lineitem").count() > 1500
        assert joined.regions == 5
    finally:
        spark.catalog.setCurrentCatalog("main")


def test_they_are_listed_before_they_exist(lakehouse: Lakehouse) -> None:
    spark = lakehouse.spark
    assert [row[0] for row in spark.sql("show schemas in samples").collect()] == [
        "bakehouse",
        "information_schema",
        "nyctaxi",
        "tpch",
    ]
    assert [row.tableName for row in spark.sql("show tables in samples.nyctaxi").collect()] == ["trips"]
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.table("samples.nyctaxi.trops")


def test_a_system_table_can_be_seeded(lakehouse: Lakehouse) -> None:
    columns = "sku_name string, usage_quantity decimal(38,18)"
    lakehouse.spark.sql("insert into system.billing.usage (sku_name, usage_quantity) values ('JOBS', 1.5)")
    assert lakehouse.spark.table("system.billing.usage").first().sku_name == "JOBS"  # type: ignore[union-attr]
    lakehouse.seed("system.billing.usage", [("SQL", Decimal(2))], columns)
    assert [row.sku_name for row in lakehouse.table("system.billing.usage").collect()] == ["SQL"]
    lakehouse.seed("system.access.audit", [("1",)], "version string")
    assert lakehouse.table("system.access.audit").count() == 1


def test_usage_of_served_models_has_its_system_tables(lakehouse: Lakehouse) -> None:
    """Columns and the join of the page about the usage of AI Gateway; the tables are empty."""
    rows = lakehouse.spark.sql("""
        SELECT e.endpoint_name, e.external_model_config.provider, e.custom_model_config.max_concurrency,
            u.usage_context['app'] AS app, u.input_token_count + u.output_token_count AS tokens
        FROM system.serving.endpoint_usage u
        JOIN system.serving.served_entities e USING (served_entity_id)
        WHERE u.request_time > now() - INTERVAL 7 DAYS AND u.status_code < 400 AND NOT u.request_streaming
    """)
    assert (rows.count(), rows.schema["tokens"].dataType.simpleString()) == (0, "bigint")


def test_predictive_optimization_has_the_columns_of_its_page(lakehouse: Lakehouse) -> None:
    """https://docs.databricks.com/aws/en/admin/system-tables/predictive-optimization"""
    table = lakehouse.table("system.storage.predictive_optimization_operations_history")
    assert table.columns[4:9] == ["metastore_name", "metastore_id", "catalog_name", "schema_name", "table_id"]
    assert table.where("operation_metrics['number_of_output_files'] > 0").count() == 0
