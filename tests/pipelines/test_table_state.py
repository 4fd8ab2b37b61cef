"""`cloud_files_state(TABLE(t))` has the files that Auto Loader has read for a streaming table (AL-6.7)."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from tests.conditions import failing
from tests.pipelines.conftest import Lab


def _land(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.json").write_text('{"id": 1}')


def _states(spark: SparkSession, table: str) -> list[tuple[str, ...]]:
    rows = spark.sql(f"SELECT flow_name, path, ingestion_state FROM cloud_files_state(TABLE({table}))")
    return sorted((row[0], row[1].rpartition("/")[2], row[2]) for row in rows.collect())


def test_the_files_of_all_flows_of_a_table(lab: Lab, tmp_path: Path) -> None:
    lab.storage = lab.settings.pipelines / lab.schema
    _land(tmp_path / "first", "a", "b")
    _land(tmp_path / "second", "c")
    lab.seed("plain", "SELECT id FROM range(3)")
    lab.file(
        "a.sql",
        f"""
        CREATE STREAMING TABLE t;
        CREATE FLOW One AS INSERT INTO t BY NAME
            SELECT id FROM STREAM read_files('{tmp_path}/first', format => 'json');
        CREATE FLOW two AS INSERT INTO t BY NAME
            SELECT id FROM STREAM read_files('{tmp_path}/second', format => 'json');
        CREATE STREAMING TABLE other AS SELECT * FROM STREAM main.{lab.source}.plain;
        CREATE MATERIALIZED VIEW v AS SELECT * FROM t;
    """,
    )
    lab.done()
    name = f"main.{lab.schema}.t"
    first = [("one", "a.json", "INGESTED"), ("one", "b.json", "INGESTED"), ("two", "c.json", "INGESTED")]
    for spelled in (name, name.upper(), f"`main`.{lab.schema}.`t`"):
        assert _states(lab.spark, spelled) == first
    _land(tmp_path / "second", "d")
    lab.done()
    assert _states(lab.spark, name) == [*first, ("two", "d.json", "INGESTED")]
    lab.done(full_refresh=["t"])
    assert _states(lab.spark, name) == [*first, ("two", "d.json", "INGESTED")]
    for without in (f"main.{lab.schema}.other", f"main.{lab.schema}.v", f"main.{lab.source}.plain"):
        with failing("CF_STATE_INVALID_CHECKPOINT_PATH"):
            _states(lab.spark, without)


def test_the_files_of_a_standalone_table(spark: SparkSession, tmp_path: Path) -> None:
    _land(tmp_path / "landing", "a")
    spark.sql(
        "CREATE OR REFRESH STREAMING TABLE main.default.states AS "
        f"SELECT * FROM STREAM read_files('{tmp_path}/landing', format => 'json')"
    )
    try:
        assert [row[1:] for row in _states(spark, "main.default.states")] == [("a.json", "INGESTED")]
    finally:
        spark.sql("DROP TABLE main.default.states")
