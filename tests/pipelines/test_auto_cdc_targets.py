"""AUTO CDC: tombstones of deleted keys, change data feed and events of targets (SDP-3.2, SDP-3.4)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.pipelines.autocdc import target_table
from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable
from lakeward.session import temporary_conf
from tests.pipelines.conftest import Lab, alter_dataset
from tests.pipelines.test_auto_cdc import CANONICAL, KEYED, OPTIONS, Bench, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 1, 1, tzinfo=timezone.utc)

TARGETS = """
import dlt
for name, scd_type in (("one", 1), ("two", 2)):
    dlt.create_streaming_table(name, table_properties={"delta.enableChangeDataFeed": "true"})
    dlt.apply_changes(
        target=name, source="SRC.feed", keys=["id"], sequence_by="seq", apply_as_deletes="op = 'DELETE'",
        except_column_list=["op", "seq"], stored_as_scd_type=scd_type,
    )
"""


@pytest.mark.slow
def test_a_deleted_key_is_remembered_for_two_days(
    spark: SparkSession, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AuxiliaryTable, "is_scattered", lambda *_: True)
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **OPTIONS)
    late = [(0, "k", 18, False, "late", 1), (0, "stays", 1, False, "old", 1)]
    bench.feed.now = lambda: START
    bench.take([(0, "k", 17, False, "p", 1), (0, "stays", 5, False, "new", 1)])
    bench.take([(0, "k", 20, True, None, None)])
    for days, rows in ((1, []), (4, [(0, "k", "late", 1)])):
        bench.feed.now = lambda days=days: START + timedelta(days=days)
        bench.feed.compact(spark)
        bench.take(late)
        assert bench.rows() == [*rows, (0, "stays", "new", 1)]


@pytest.mark.slow
def test_a_merge_compacts_small_files_once_there_are_many(
    spark: SparkSession, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delta's own rule compacts after the first MERGE of every process, and so reads the whole table."""
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **OPTIONS)

    def operations() -> list[str]:
        history = spark.sql(f"DESCRIBE HISTORY {'.'.join(bench.key)}").select("operation").collect()
        return [row["operation"] for row in history]

    # A MERGE writes two files.
    with temporary_conf(spark, {"spark.sql.shuffle.partitions": "2"}):
        bench.take([(0, f"k{number}", 1, False, "a", number) for number in range(9)])
        bench.take([(0, "k3", 2, False, "b", 3)])
        assert "MERGE" in operations() and "OPTIMIZE" not in operations()
        monkeypatch.setattr(target_table, "_MAX_SMALL_FILES", 1)
        bench.take([(0, "k4", 2, False, "b", 4)])
        assert operations()[0] == "OPTIMIZE"
        assert len(bench.rows()) == 9 and (0, "k4", "b", 4) in bench.rows()


@pytest.mark.slow
def test_a_target_reports_its_changes_as_rows_and_as_numbers(lab: Lab) -> None:
    lab.seed("feed", values(CANONICAL[:4]))
    lab.file("cdc.py", TARGETS)
    lab.done()
    before = {name: lab.version(name) for name in ("one", "two")}
    lab.seed("feed", values(CANONICAL[4:6]))
    update = lab.done()
    for name, changes in (
        ("one", {(123, "delete"), (125, "update_preimage"), (125, "update_postimage")}),
        (
            "two",
            {
                (123, "update_preimage"),
                (123, "update_postimage"),
                (125, "update_preimage"),
                (125, "update_postimage"),
                (125, "insert"),
            },
        ),
    ):
        feed = lab.spark.read.option("readChangeFeed", "true").option("startingVersion", before[name] + 1)
        rows = feed.table(f"main.{lab.schema}.{name}").select("id", "_change_type").collect()
        assert {tuple(row) for row in rows} == changes
    events = lab.log(f"event_type = 'flow_progress' AND origin.update_id = '{update.update_id}'")
    metrics = [json.loads(row["details"])["flow_progress"].get("metrics") for row in events]
    found = [each for each in metrics if each and each.get("num_upserted_rows") is not None]
    assert {"num_upserted_rows": 1, "num_deleted_rows": 1} in found, "type 1: one updated, one deleted"
    assert not any("num_output_rows" in each for each in found)


VECTORS = """
import dlt
for name, properties in (("by_default", {}), ("declared", {"Delta.enableDeletionVectors": "false"})):
    dlt.create_streaming_table(name, table_properties=properties)
    dlt.apply_changes(
        target=name, source="SRC.feed", keys=["id"], sequence_by="seq", apply_as_deletes="gone",
        except_column_list=["gone"],
    )
"""


def test_a_change_marks_rows_in_deletion_vectors_unless_the_table_declares_otherwise(lab: Lab) -> None:
    lab.seed("feed", "SELECT id, 1L AS seq, false AS gone FROM range(1000)")
    lab.file("cdc.py", VECTORS)
    lab.done()
    lab.seed("feed", "SELECT id, 2L AS seq, id = 7 AS gone FROM range(5, 9)")
    lab.done()
    marked = {}
    for name in ("by_default", "declared"):
        merge = (
            lab.spark.sql(f"DESCRIBE HISTORY main.{lab.schema}.{name}").where("operation = 'MERGE'").first()
        )
        assert merge is not None
        marked[name] = int(merge["operationMetrics"]["numTargetDeletionVectorsAdded"])
        rows = {tuple(row) for row in lab.table(name).where("id BETWEEN 5 AND 9").collect()}
        assert rows == {(5, 2), (6, 2), (8, 2), (9, 1)}
        assert lab.table(name).count() == 999
    assert marked["by_default"] > 0
    assert marked["declared"] == 0


KINDS = """
from pyspark import pipelines as dp
for end, properties in (("", {}), ("_plain", {"delta.enableDeletionVectors": "false"})):
    for name in ("two", "both_times", "snapshots"):
        dp.create_streaming_table(name + end, table_properties=properties)
    shared = dict(source="SRC.feed", keys=["id"], sequence_by="seq", except_column_list=["gone", "known"])
    dp.create_auto_cdc_flow(
        target="two" + end, apply_as_deletes="gone", stored_as_scd_type=2, **shared
    )
    dp.create_auto_cdc_flow(
        target="both_times" + end, system_sequence_by="known", stored_as_scd_type="bitemporal", **shared
    )
    dp.create_auto_cdc_from_snapshot_flow(
        target="snapshots" + end, source="SRC.people", keys=["id"], stored_as_scd_type=1
    )
"""
KINDS_SQL = """
CREATE STREAMING TABLE in_sql;
CREATE FLOW f AS AUTO CDC INTO in_sql FROM STREAM(SRC.feed) KEYS (id) APPLY AS DELETE WHEN gone
SEQUENCE BY seq COLUMNS * EXCEPT (gone, known);
CREATE STREAMING TABLE in_sql_plain TBLPROPERTIES ('delta.enableDeletionVectors' = 'false');
CREATE FLOW g AS AUTO CDC INTO in_sql_plain FROM STREAM(SRC.feed) KEYS (id) APPLY AS DELETE WHEN gone
SEQUENCE BY seq COLUMNS * EXCEPT (gone, known);
"""


@pytest.mark.slow
def test_targets_of_every_kind_have_the_same_rows_with_deletion_vectors(lab: Lab) -> None:
    """Also a target that got its deletion vectors turned off after it was created."""
    lab.seed("feed", "SELECT id, 1L AS seq, 1L AS known, false AS gone FROM range(300)")
    lab.seed("people", "SELECT id, 'a' AS name FROM range(300)")
    lab.file("cdc.py", KINDS)
    lab.file("cdc.sql", KINDS_SQL)
    lab.done()
    for number in (2, 3):
        lab.seed("feed", f"SELECT id, {number}L AS seq, {number}L AS known, id = 7 AS gone FROM range(5, 9)")
        people = lab.spark.sql(f"SELECT id, if(id < 9, '{number}', 'a') AS name FROM range({number}, 300)")
        people.write.mode("overwrite").saveAsTable(f"main.{lab.source}.people")
        lab.done()
        for name in ("two", "both_times", "snapshots", "in_sql"):
            assert lab.rows(name) == lab.rows(f"{name}_plain"), (name, number)
            off = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')"
            alter_dataset(lab.spark, f"ALTER TABLE main.{lab.schema}.{name} SET {off}")
    assert {(row.id, row.seq) for row in lab.table("in_sql").where("id BETWEEN 5 AND 9").collect()} == {
        *((id_, 3) for id_ in (5, 6, 8)),
        (9, 1),
    }
    history = lab.table("two").where("id = 5 AND __END_AT IS NULL").collect()
    assert [row.seq for row in history] == [3]
    assert lab.table("snapshots").count() == 297
