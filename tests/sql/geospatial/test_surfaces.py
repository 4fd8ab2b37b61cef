"""Where calls occur: expressions, views, joins, streams, pipelines, tables, workers of Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakeward.session import message_of
from lakeward.testing import Lakehouse
from tests.conditions import failing

PIPELINE = """
CREATE MATERIALIZED VIEW zones AS
    SELECT 1 AS zone, 'POLYGON((0 0,10 0,10 10,0 10,0 0))' AS border;
CREATE STREAMING TABLE sightings (
    CONSTRAINT valid EXPECT (st_isvalid(st_geomfromtext(place))) ON VIOLATION DROP ROW
) AS
    SELECT id, concat('POINT(', id * 5, ' ', id, ')') AS place FROM STREAM seeded;
CREATE MATERIALIZED VIEW found AS
    SELECT zone, count(*) AS n, st_astext(st_envelope_agg(st_geomfromtext(place))) AS area
    FROM sightings JOIN zones ON st_contains(st_geomfromtext(border), st_geomfromtext(place)) GROUP BY zone;
"""


def test_expressions_of_frames(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("id", "st_point(id, 1) AS g")
    assert frame.where("st_x(g) > 1").select(F.expr("st_astext(g)")).collect() == [("POINT(2 1)",)]
    assert frame.select(F.call_function("st_x", "g")).columns == ["st_x(g)"]
    assert frame.agg(F.expr("st_astext(st_union_agg(g))")).collect() == [("MULTIPOINT((0 1),(1 1),(2 1))",)]


def test_views_keep_geometries(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS geo_views")
    spark.sql("CREATE OR REPLACE VIEW geo_views.v AS SELECT id, st_point(id, 1, 4326) AS g FROM range(3)")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW tv AS SELECT st_srid(g) AS s, st_x(g) AS x FROM geo_views.v")
    assert spark.sql("SELECT * FROM tv ORDER BY x").collect() == [(4326, 0.0), (4326, 1.0), (4326, 2.0)]
    assert spark.table("geo_views.v").schema["g"].dataType.simpleString() == "geometry(4326)"
    spark.sql("DROP SCHEMA geo_views CASCADE")


@pytest.mark.parametrize("hint", ["", "/*+ BROADCAST(b) */"])
def test_a_relation_as_the_condition_of_a_join(spark: SparkSession, hint: str) -> None:
    query = (
        f"SELECT {hint} a.id, b.id FROM range(0, 40, 1, 3) a JOIN range(0, 40, 1, 3) b "
        "ON st_dwithin(st_point(a.id, 0), st_point(b.id, 0), 1.5) AND a.id < b.id ORDER BY 1"
    )
    assert spark.sql(query).collect() == [(i, i + 1) for i in range(39)]


def test_values_reach_python_and_come_back(spark: SparkSession) -> None:
    frame = spark.range(2).selectExpr("st_point(id, 1, 4326) AS g")
    values = [row.g for row in frame.collect()]
    assert [value.getSrid() for value in values] == [4326, 4326]
    again = spark.createDataFrame([(value,) for value in values], "g geometry(4326)")
    assert again.selectExpr("st_astext(g)").collect() == [("POINT(0 1)",), ("POINT(1 1)",)]
    assert frame.select(F.udf(lambda g: g.getSrid(), "int")("g")).distinct().collect() == [(4326,)]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE geo_table (g GEOMETRY(4326))",
        "CREATE TABLE geo_table (g ARRAY<GEOGRAPHY(4326)>)",
        "CREATE TABLE geo_table AS SELECT st_point(1, 2) AS g",
    ],
)
def test_delta_refuses_columns_of_geometries(spark: SparkSession, statement: str) -> None:
    with failing("DELTA_GEOSPATIAL_NOT_SUPPORTED") as raised:
        spark.sql(statement)
    assert "Store st_aswkb(g) in a BINARY column" in message_of(raised.value)


def test_wkb_in_a_table_is_the_way_round(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TABLE geo_wkb AS SELECT st_aswkb(st_point(id, 2, 4326)) AS g FROM range(2)")
    read = "SELECT st_asewkt(st_geomfromwkb(g, 4326)) FROM geo_wkb ORDER BY 1"
    assert spark.sql(read).collect() == [("SRID=4326;POINT(0 2)",), ("SRID=4326;POINT(1 2)",)]
    spark.sql("DROP TABLE geo_wkb")


def test_a_stream_with_an_aggregate(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(
        "CREATE OR REPLACE TABLE geo_source AS SELECT id, concat('POINT(', id, ' 1)') AS w FROM range(5)"
    )
    counted = (
        spark.readStream.table("geo_source")
        .groupBy(F.expr("id % 2 AS k"))
        .agg(F.expr("st_astext(st_envelope_agg(st_geomfromtext(w))) AS area"))
    )
    writer = counted.writeStream.outputMode("complete").option("checkpointLocation", str(tmp_path / "c"))
    writer.trigger(availableNow=True).toTable("geo_target").awaitTermination()
    rows = spark.table("geo_target").orderBy("k").collect()
    assert rows == [(0, "LINESTRING(0 1,4 1)"), (1, "LINESTRING(1 1,3 1)")]
    spark.sql("DROP TABLE geo_source")
    spark.sql("DROP TABLE geo_target")


def test_a_pipeline(lakehouse: Lakehouse, tmp_path: Path) -> None:
    (tmp_path / "geo.sql").write_text(PIPELINE, encoding="utf-8")
    lakehouse.seed("main.default.seeded", [{"id": n} for n in range(4)])
    update = lakehouse.run(tmp_path / "geo.sql")
    assert update.state == "COMPLETED"
    assert lakehouse.table("main.default.found").collect() == [(1, 1, "POINT(5 1)")]


def test_show_prints_ewkt(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    frame = spark.sql(
        "SELECT id, st_point(id, 1, 4326) AS g, st_geogfromtext('POINT(1 2)') AS h, "
        "CAST(NULL AS GEOMETRY(0)) AS n, array(st_point(id, 1), NULL) AS l FROM range(1, 2)"
    )
    frame.show(truncate=False)
    spark.sql("SELECT st_point(1, 2) AS g").show(vertical=True)
    shown = capsys.readouterr().out
    assert "|1  |SRID=4326;POINT(1 1)|SRID=4326;POINT(1 2)|NULL|[POINT(1 1), NULL]|" in shown
    assert " g   | POINT(1 2) " in shown
