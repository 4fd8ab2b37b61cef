"""AUTO CDC flows with `once`: sources of every kind, in Python and SQL.

Source: https://docs.databricks.com/aws/en/ldp/database-replication (its initial load reads a streaming view).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipelines.conftest import Lab

VIEW = "@dp.temporary_view\ndef feed():\n    return "
FILES = (
    ".format('cloudFiles').option('cloudFiles.format', 'json')"
    ".schema('id INT, v STRING, n INT').load('FOLDER')"
)
SOURCES = {
    "streaming view": f"{VIEW}spark.readStream.table('SRC.feed')",
    "Auto Loader view": f"{VIEW}spark.readStream{FILES}",
    "batch view": f"{VIEW}spark.read.table('SRC.feed')",
    "view of a view": f"{VIEW}spark.readStream.table('SRC.feed')\n"
    "@dp.temporary_view\ndef above():\n    return spark.readStream.table('feed').where('n > 0')",
    "streaming table": "@dp.table\ndef feed():\n    return spark.readStream.table('SRC.feed')",
    "materialized view": "@dp.materialized_view\ndef feed():\n    return spark.read.table('SRC.feed')",
    "table of others": "",
}
READ = {"view of a view": "above", "table of others": "SRC.feed"}


def _rows(lab: Lab, folder: Path, number: int) -> None:
    lab.seed("feed", f"SELECT {number} AS id, 'a' AS v, 1 AS n")
    folder.mkdir(exist_ok=True)
    (folder / f"{number}.json").write_text(json.dumps({"id": number, "v": "a", "n": 1}))


@pytest.mark.rule("SDP-4.6")
@pytest.mark.parametrize("source", SOURCES)
def test_a_one_time_flow_applies_what_its_source_has(lab: Lab, tmp_path: Path, source: str) -> None:
    folder = tmp_path / "landing"
    _rows(lab, folder, 1)
    _rows(lab, folder, 2)
    flow = (
        "dp.create_streaming_table('t')\n"
        f"dp.create_auto_cdc_flow(target='t', source='{READ.get(source, 'feed')}', keys=['id'],"
        " sequence_by='n', once=True, name='initial_load', stored_as_scd_type=1)\n"
    )
    text = f"from pyspark import pipelines as dp\n{SOURCES[source].replace('FOLDER', str(folder))}\n{flow}"
    lab.file("p.py", text)
    lab.done()
    assert lab.rows("t") == [(1, "a", 1), (2, "a", 1)]
    # Only a full refresh runs it again.
    _rows(lab, folder, 3)
    lab.done()
    assert lab.rows("t") == [(1, "a", 1), (2, "a", 1)]
    lab.done(full_refresh=["t"])
    assert lab.rows("t") == [(1, "a", 1), (2, "a", 1), (3, "a", 1)]


SQL_SOURCES = {
    "name": ("CREATE TEMPORARY VIEW feed AS SELECT * FROM STREAM(SRC.feed);", "feed"),
    "stream of a view": ("CREATE TEMPORARY VIEW feed AS SELECT * FROM STREAM(SRC.feed);", "STREAM(feed)"),
    "stream of a table": ("", "STREAM(SRC.feed)"),
    "batch view": ("CREATE TEMPORARY VIEW feed AS SELECT * FROM SRC.feed;", "feed"),
}


@pytest.mark.rule("SDP-4.6")
@pytest.mark.parametrize("source", SQL_SOURCES)
def test_sql_has_the_same_sources(lab: Lab, source: str) -> None:
    lab.seed("feed", "SELECT 1 AS id, 'a' AS v, 1 AS n")
    view, name = SQL_SOURCES[source]
    lab.file(
        "p.sql",
        f"{view}\nCREATE OR REFRESH STREAMING TABLE t;\n"
        f"CREATE FLOW load AS AUTO CDC ONCE INTO t FROM {name} "
        "KEYS (id) SEQUENCE BY n STORED AS SCD TYPE 2;\n",
    )
    lab.done()
    assert lab.rows("t", "id, v, n") == [(1, "a", 1)]
    lab.seed("feed", "SELECT 2 AS id, 'a' AS v, 1 AS n")
    lab.done()
    assert lab.rows("t", "id, v, n") == [(1, "a", 1)]


def test_the_flow_of_the_change_feed_follows_the_initial_load(lab: Lab) -> None:
    lab.seed("snapshot", "SELECT id, 'old' AS v, 5 AS n FROM range(3)")
    lab.seed("feed", "SELECT 1L AS id, 'new' AS v, 9 AS n")
    lab.file(
        "p.py",
        """
        from pyspark import pipelines as dp
        from pyspark.sql import functions as F

        @dp.temporary_view
        def full_orders_snapshot():
            return spark.readStream.table("SRC.snapshot")

        @dp.temporary_view
        def rdbms_orders_change_feed():
            return spark.readStream.table("SRC.feed")

        dp.create_streaming_table("orders")
        dp.create_auto_cdc_flow(
            flow_name="initial_load_orders", once=True, target="orders", source="full_orders_snapshot",
            keys=["id"], sequence_by=F.lit(0), stored_as_scd_type="1")
        dp.create_auto_cdc_flow(
            flow_name="orders_incremental_cdc", target="orders", source="rdbms_orders_change_feed",
            keys=["id"], sequence_by="n", stored_as_scd_type="1")
        """,
    )
    lab.done()
    assert lab.rows("orders", "id, v") == [(0, "old"), (1, "new"), (2, "old")]
    lab.seed("snapshot", "SELECT 7L AS id, 'late' AS v, 5 AS n")
    lab.seed("feed", "SELECT 2L AS id, 'newer' AS v, 10 AS n")
    lab.done()
    assert lab.rows("orders", "id, v") == [(0, "old"), (1, "new"), (2, "newer")]


def test_append_flows_with_once_still_need_a_batch(lab: Lab) -> None:
    lab.seed("feed", "SELECT 1 AS id")
    lab.file(
        "p.py",
        """
        from pyspark import pipelines as dp
        dp.create_streaming_table("t")
        @dp.append_flow(target="t", once=True)
        def f():
            return spark.readStream.table("SRC.feed")
        """,
    )
    assert "STREAMING_RELATION_FOR_ONCE_FLOW" in str(lab.run().error)
