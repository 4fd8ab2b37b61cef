"""Private tables can be read by name in their own pipeline only (SDP-1.1.2)."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from lakeward import pipelines
from tests.pipelines.conftest import Lab, result

PRIVATE = """
    from pyspark import pipelines as dp
    from pyspark.sql import functions as F
    @dp.table(private=True)
    @dp.expect_or_drop("even", "id % 2 = 0")
    def raw(): return spark.readStream.table("SRC.numbers")
    @dp.materialized_view(temporary=True)
    def total(): return spark.sql("SELECT sum(id) AS total FROM raw")
    @dp.table
    def copied(): return spark.readStream.table("raw")
    @dp.materialized_view
    def shown(): return spark.table("raw").crossJoin(dp.read("total")).where(F.expr("id > 0"))
"""
IN_SQL = "CREATE OR REFRESH PRIVATE STREAMING TABLE low AS SELECT * FROM STREAM(raw) WHERE id < 3"


@pytest.mark.slow
def test_only_its_pipeline_finds_a_private_table(lab: Lab) -> None:
    lab.seed("numbers", "SELECT id FROM range(7)")
    lab.file("a.py", PRIVATE)
    lab.file("b.sql", IN_SQL + ";\nCREATE MATERIALIZED VIEW lowest AS SELECT min(id) AS id FROM low")
    update = lab.done()
    assert (result(update, "raw").rows_written, result(update, "raw").dropped) == (4, 3)
    assert lab.rows("shown") == [(2, 12), (4, 12), (6, 12)]
    assert lab.rows("copied") == [(0,), (2,), (4,), (6,)] and lab.rows("lowest") == [(0,)]
    spark, schema = lab.spark, f"main.{lab.schema}"
    assert lab.tables() == {"shown", "copied", "lowest"}
    assert not any(spark.catalog.tableExists(f"{schema}.{name}") for name in ("raw", "total", "low"))
    listed = spark.sql(
        f"SELECT table_name FROM main.information_schema.tables WHERE table_schema = '{lab.schema}'"
    )
    assert {row["table_name"] for row in listed.collect()} == {"shown", "copied", "lowest"}
    lab.seed("numbers", "SELECT id FROM range(7, 9)")
    assert result(lab.done(), "raw").rows_written == 1
    assert lab.rows("copied") == [(0,), (2,), (4,), (6,), (8,)]


@pytest.mark.slow
def test_a_private_name_is_free_for_others(lab: Lab, tmp_path: Path) -> None:
    lab.seed("numbers", "SELECT id FROM range(7)")
    lab.file("a.py", PRIVATE)
    lab.done()
    lab.spark.sql(f"CREATE TABLE main.{lab.schema}.raw AS SELECT 'mine' AS name")
    other = tmp_path / "other.py"
    text = PRIVATE.replace("copied", "copied_too").replace("shown", "shown_too").replace("% 2", "% 3")
    other.write_text(textwrap.dedent(text).replace("SRC", f"main.{lab.source}"))
    storage = tmp_path / "storage of the other"
    options = pipelines.UpdateOptions(name="other", schema=lab.schema, storage=storage)
    update = pipelines.run([other], options, session=lab.spark, settings=lab.settings)
    assert update.state == "COMPLETED", update.error
    assert lab.rows("copied_too") == [(0,), (3,), (6,)] and lab.rows("raw") == [("mine",)]
    lab.seed("numbers", "SELECT 10 AS id")
    assert result(lab.done(), "raw").rows_written == 1 and lab.rows("raw") == [("mine",)]
