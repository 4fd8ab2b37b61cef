"""After a test with `lakehouse`, code finds the session of the fixture `spark` again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from lakeward.testing import Lakehouse

pytestmark = pytest.mark.spark

WAYS: dict[str, Callable[[], Any]] = {
    "active": SparkSession.getActiveSession,
    "builder": SparkSession.builder.getOrCreate,
    "default": lambda: SparkSession.builder.appName("x").getOrCreate(),
}


def test_the_session_before_has_a_schema(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS main.before")
    spark.sql("USE main.before")
    spark.range(4).write.mode("overwrite").saveAsTable("main.before.t")


def test_a_test_has_a_lakehouse_of_its_own(spark: SparkSession, lakehouse: Lakehouse) -> None:
    spark.range(3).createOrReplaceTempView("of_the_suite")
    assert [way().catalog.tableExists("of_the_suite") for way in WAYS.values()] == [False] * 3
    assert not lakehouse.spark.catalog.tableExists("main.before.t")
    lakehouse.spark.sql("CREATE TABLE main.default.inner AS SELECT 1 AS a")


@pytest.mark.parametrize("way", WAYS)
def test_the_session_is_that_of_the_fixture_again(spark: SparkSession, way: str) -> None:
    found = WAYS[way]()
    spark.range(3).createOrReplaceTempView("of_the_suite")
    assert found._jsparkSession.equals(spark._jsparkSession)
    assert found.table("of_the_suite").count() == 3
    assert found.table("t").count() == 4
    assert found.catalog.currentDatabase() == "before"
    assert not found.catalog.tableExists("main.default.inner")


def test_functions_follow_its_settings(spark: SparkSession) -> None:
    """PySpark asks the active session whether values of a function are cast."""
    key = "spark.sql.execution.pythonUDF.arrow.enabled"
    before = spark.conf.get(key)
    spark.conf.set(key, "false")
    try:
        assert spark.range(1).select(udf(lambda _: 3, "double")("id")).first()[0] is None  # type: ignore[index]
    finally:
        spark.conf.set(key, before)
        spark.sql("USE main.default")
        spark.sql("DROP SCHEMA main.before CASCADE")
