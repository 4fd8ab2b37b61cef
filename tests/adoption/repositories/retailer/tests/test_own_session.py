import os
from unittest import mock

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from retailer.session import get_spark


def test_settings_are_kept(spark):
    assert spark.conf.get("spark.sql.shuffle.partitions") == "1"
    assert spark.sparkContext.appName == "retailer-tests"


def test_delta_is_there(spark, tmp_path):
    path = str(tmp_path / "orders")
    spark.range(3).write.format("delta").save(path)
    spark.range(1).write.format("delta").mode("overwrite").save(path)
    assert spark.read.format("delta").option("versionAsOf", 0).load(path).count() == 3


def test_tables_of_a_database_are_in_its_folder(spark, database):
    spark.sql("CREATE OR REPLACE TABLE retail.orders (id INT, price DOUBLE) USING DELTA")
    spark.sql("INSERT INTO retail.orders VALUES (1, 2.5)")
    assert spark.table("retail.orders").count() == 1
    assert (database / "orders" / "_delta_log").is_dir()


def test_every_helper_finds_the_session(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert get_spark() is spark
    assert SparkSession.builder.getOrCreate() is spark
    assert SparkSession.getActiveSession() is spark


def test_an_emptied_environment_changes_nothing(spark):
    with mock.patch.dict(os.environ, clear=True):
        assert spark.range(2).select(F.sum("id")).first()[0] == 1
        assert SparkSession.builder.getOrCreate() is spark


def test_rdds_and_broadcasts(spark):
    context = spark.sparkContext
    assert context.parallelize([1, 2, 3]).map(lambda x: x + 1).sum() == 9
    assert context.broadcast({"a": 1}).value == {"a": 1}


def test_functions_in_python(spark):
    twice = F.udf(lambda value: value * 2, "int")
    assert spark.createDataFrame([(1,), (2,)], "id int").select(twice("id")).collect()[1][0] == 4


def test_mocks_of_sparks_classes(spark):
    session = mock.MagicMock(spec=SparkSession)
    session.table.return_value = mock.create_autospec(DataFrame, instance=True)
    session.table("a").write.mode("overwrite").saveAsTable("b")
    with mock.patch.object(type(spark.read), "load", return_value=spark.range(1)):
        assert spark.read.format("csv").load("/nowhere").count() == 1


def test_the_pins_runtime_is_not_yet_ansi(spark):
    assert spark.sql("SELECT CAST('x' AS INT)").first()[0] is None


def test_the_version_is_that_of_the_pins(spark):
    assert spark.version.startswith("3.5.")
