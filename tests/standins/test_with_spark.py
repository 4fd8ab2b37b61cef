"""The stand-ins on a real session."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from lakeward import standins
from lakeward.dbutils import DBUtils
from lakeward.errors import DbutilsError
from lakeward.testing import Lakehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINE = """
from pyspark import pipelines as dp
from pyspark.dbutils import DBUtils
from databricks.sdk.runtime import spark as imported

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
    standins.display(df)
    shown = capsys.readouterr().out.splitlines()
    assert shown[1] == "| id|name|"
    assert shown[4] == "|  2|NULL|"
    DBUtils().data.summarize(df)
    assert "|count|2|1|" in capsys.readouterr().out.replace(" ", "")
    DBUtils().data.summarize(df, precise=True)
    assert "count_distinct" in capsys.readouterr().out
    stream = spark.readStream.format("rate").load()
    standins.display(stream)
    assert capsys.readouterr().out.startswith("A stream of timestamp, value")
    with pytest.raises(DbutilsError, match="streaming frames have no end"):
        DBUtils().data.summarize(stream)


def test_a_pipelines_files_have_dbutils(
    lakehouse: Lakehouse, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (lakehouse.volume("landing") / "a.json").write_text("{}")
    source = tmp_path_factory.mktemp("pipeline") / "listed.py"
    source.write_text(PIPELINE)
    update = lakehouse.run(source)
    assert update.state == "COMPLETED", update
    assert [row.name for row in lakehouse.table("listed").collect()] == ["a.json"]
