"""ANALYZE TABLE … COMPUTE DELTA STATISTICS: files written without minimum and maximum get both."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lakeward.delta_log import read_table
from lakeward.session import Settings


def test_files_without_statistics_get_them(spark: SparkSession, suite_settings: Settings) -> None:
    name, key = "main.default.unanalyzed", "delta.dataSkippingNumIndexedCols"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} TBLPROPERTIES ('{key}' = '0') AS SELECT id FROM range(0, 10, 1, 2)")
    folder = suite_settings.warehouse / "main" / "default" / "unanalyzed"
    assert {bool(each.statistics.get("minValues")) for each in read_table(folder).files} == {False}
    spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('{key}')")
    spark.sql(f"ANALYZE TABLE {name} COMPUTE DELTA STATISTICS")
    ranges = [
        (each.statistics["minValues"]["id"], each.statistics["maxValues"]["id"])
        for each in read_table(folder).files
    ]
    assert sorted(ranges) == [(0, 4), (5, 9)]
    assert spark.table(name).count() == 10
    spark.sql(f"DROP TABLE {name}")
