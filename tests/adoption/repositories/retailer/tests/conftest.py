import pytest
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("retailer-tests")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .config("spark.sql.shuffle.partitions", 1)
        .config("spark.default.parallelism", 1)
        .config("spark.ui.enabled", False)
        .enableHiveSupport()
    )
    session = configure_spark_with_delta_pip(builder).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def database(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    spark.sql(f"CREATE DATABASE IF NOT EXISTS retail LOCATION '{folder}'")
    assert spark.catalog.databaseExists("retail")
    return folder
