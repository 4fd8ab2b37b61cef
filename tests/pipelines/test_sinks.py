"""Sinks, update flows and event hooks (SDP-4.4, SDP-5.5)."""

from __future__ import annotations

import json

import pytest

from tests.pipelines.conftest import Lab, result

SINKS = """
import json
from pathlib import Path
from pyspark import pipelines as dp
from pyspark.sql import functions as F

FOLDER = Path("HERE")

dp.create_sink("by_path", format="delta", options={"path": str(FOLDER / "by_path")})
dp.create_sink("by_name", "delta", {"tableName": "SRC.outside"})

@dp.append_flow(target="by_path")
def to_path(): return spark.readStream.table("bronze")

@dp.append_flow(target="by_name", name="to_name")
def to_name(): return dp.read_stream("bronze").where("id > 1")

@dp.table
def bronze(): return spark.readStream.table("SRC.raw")

@dp.foreach_batch_sink(name="totals")
def write_totals(df, batch_id):
    df.createOrReplaceTempView("batch_totals")
    rows = df.sparkSession.sql("SELECT key, n FROM batch_totals ORDER BY key").collect()
    with (FOLDER / "totals.jsonl").open("a") as file:
        file.write(json.dumps([batch_id, [[row.key, row.n] for row in rows]]) + "\\n")

@dp.update_flow(target="totals")
def counted():
    ids = spark.readStream.table("bronze").groupBy((F.col("id") % 2).alias("key"))
    return ids.agg(F.count("*").alias("n"))

@dp.on_event_hook(max_allowable_consecutive_failures=1)
def noted(event):
    with (FOLDER / "events.jsonl").open("a") as file:
        row = [event["event_type"], sorted(event["details"]), event["origin"]["update_id"]]
        file.write(json.dumps(row) + "\\n")

@dp.on_event_hook(max_allowable_consecutive_failures=2)
def broken(event):
    with (FOLDER / "broken.txt").open("a") as file:
        file.write("x")
    raise ValueError("no network")
"""


def test_flows_write_to_sinks_and_hooks_hear_of_it(lab: Lab) -> None:
    lab.seed("raw", "SELECT id FROM range(4)")
    lab.file("a.py", SINKS.replace("HERE", str(lab.folder)))
    update = lab.done()
    kinds = {each.name: each.kind for each in update.datasets}
    assert kinds == dict.fromkeys(("by_path", "by_name", "totals"), "sink") | {"bronze": "streaming_table"}
    lab.seed("raw", "SELECT id FROM range(4, 6)")
    lab.done()
    read = lab.spark.read.format("delta").load(str(lab.folder / "by_path"))
    assert sorted(row.id for row in read.collect()) == [0, 1, 2, 3, 4, 5]
    outside = lab.spark.table(f"main.{lab.source}.outside")
    assert sorted(row.id for row in outside.collect()) == [2, 3, 4, 5]
    batches = [json.loads(line) for line in (lab.folder / "totals.jsonl").read_text().splitlines()]
    assert batches == [[0, [[0, 2], [1, 2]]], [1, [[0, 3], [1, 3]]]]
    events = [json.loads(line) for line in (lab.folder / "events.jsonl").read_text().splitlines()]
    assert events[0][0] == "create_update" and events[0][1] == ["create_update"]
    ids = {each[2] for each in events}
    assert len(ids) == 2 and update.update_id in ids
    assert len((lab.folder / "broken.txt").read_text()) == 6, "three failures an update, then no more"
    progress = [
        json.loads(row["details"])["hook_progress"] for row in lab.log("event_type = 'hook_progress'")
    ]
    assert [each["status"] for each in progress].count("DISABLED") == 2
    # A full refresh resets what was read, never what was written.
    lab.done(full_refresh=["totals", "by_path"])
    assert json.loads((lab.folder / "totals.jsonl").read_text().splitlines()[-1])[0] == 0
    assert read.count() == 12


LAST_STATE = """
from pyspark import pipelines as dp

@dp.materialized_view
def t(): return QUERY

@dp.on_event_hook
def noted(event):
    state = event["details"].get("update_progress", {}).get("state")
    if state in ("COMPLETED", "FAILED"):
        from databricks.sdk import WorkspaceClient
        from lately import FOLDER_NAME
        with open(f"/Volumes/{FOLDER_NAME}/states.txt", "a") as file:
            file.write(f"{state} {WorkspaceClient().current_user.me().user_name}")
"""


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED"])
def test_hooks_run_in_the_surroundings_of_the_code_until_the_last_event(lab: Lab, state: str) -> None:
    """Modules of the project, paths of the platform and clients of the workspace, as at the first event."""
    lab.spark.sql(f"CREATE VOLUME main.{lab.source}.hooks")
    lab.file("lately/__init__.py", f"FOLDER_NAME = 'main/{lab.source}/hooks'")
    query = "spark.range(2)" if state == "COMPLETED" else "spark.table('missing')"
    lab.file("a.py", LAST_STATE.replace("QUERY", query))
    assert lab.run().state == state
    written = (lab.settings.volumes / "main" / lab.source / "hooks" / "states.txt").read_text()
    assert written.startswith(f"{state} ") and not lab.log("event_type = 'hook_progress'")


BATCHES = """
from pyspark import pipelines as dp

dp.create_sink("out", format="noop")

@dp.append_flow(target="out")
def copied(): return spark.readStream.option("maxFilesPerTrigger", 1).table("SRC.raw")
"""


def test_rows_of_a_sink_are_those_of_all_batches(lab: Lab) -> None:
    setting = "spark.sql.streaming.numRecentProgressUpdates"
    for number in range(4):
        lab.seed("raw", f"SELECT {number} AS id")
    lab.file("a.py", BATCHES)
    # Spark keeps the progress of 100 batches by default.
    lab.spark.conf.set(setting, "2")
    try:
        update = lab.done()
    finally:
        lab.spark.conf.unset(setting)
    assert result(update, "out").rows_written == 4


def test_wrong_sinks_are_found_by_a_dry_run(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    lab.file("a.py", """
        import dlt
        dlt.create_sink("stream_out", "kafka", {"topic": "t"})
        @dlt.append_flow(target="stream_out")
        def one(): return spark.readStream.table("SRC.raw")
        dlt.create_sink("nowhere", "delta", {})
        @dlt.append_flow(target="nowhere")
        def two(): return spark.readStream.table("SRC.raw")
        dlt.create_sink("batch", "delta", {"path": "/tmp/never-written"})
        @dlt.append_flow(target="batch")
        def three(): return spark.read.table("SRC.raw")
        dlt.create_sink("unused", "delta", {"path": "/tmp/never-written"})
        dlt.create_streaming_table("kept")
        @dlt.update_flow(target="kept")
        def four(): return spark.readStream.table("SRC.raw")
        dlt.create_sink("grouped", "delta", {"path": "/tmp/never-written"})
        @dlt.append_flow(target="grouped")
        def five(): return spark.readStream.table("SRC.raw").groupBy("id").count()
        @dlt.table
        def reads(): return spark.read.table("batch")
    """)  # fmt: skip
    error = str(lab.run(dry_run=True).error)
    conditions = sorted(line.split("]")[0][1:] for line in error.splitlines() if line.startswith("["))
    assert conditions == [
        "DATA_SOURCE_NOT_FOUND",
        "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_SINK",
        "INVALID_SINK_OPTIONS",
        "INVALID_UPDATE_FLOW_TARGET",
        "PIPELINE_DATASET_WITHOUT_FLOW",
        "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
        "TABLE_OR_VIEW_NOT_FOUND",
    ]
    assert "spark-sql-kafka-0-10_2.13:4.2.0" in error


def test_a_batch_function_that_fails_shows_its_own_line(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    path = lab.file("a.py", """
        import dlt
        @dlt.foreach_batch_sink
        def out(df, batch_id):
            raise KeyError("no such customer")
        @dlt.append_flow(target="out")
        def feed(): return spark.readStream.table("SRC.raw")
    """)  # fmt: skip
    failed = result(lab.run(), "out")
    assert (
        failed.state == "FAILED"
        and f"{path}:5" in str(failed.error)
        and "no such customer" in str(failed.error)
    )


WITH_TABLE = """
from pyspark import pipelines as dp

@dp.foreach_batch_sink(name="outside")
def outside(df, batch_id):
    df.write.mode("append").saveAsTable("written")

@dp.append_flow(target="outside")
def rows():
    return spark.readStream.table("SRC.raw")
"""


def test_a_sink_of_a_pipeline_has_the_schema_of_the_pipeline(lab: Lab) -> None:
    lab.seed("raw", "SELECT id FROM range(3)")
    lab.file("a.py", WITH_TABLE)
    lab.done()
    assert lab.rows("written") == [(0,), (1,), (2,)]


OWN_FORMATS = """
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamWriter, DataSourceWriter
from pyspark.sql.datasource import SimpleDataSourceStreamReader, WriterCommitMessage

class Numbers(DataSource):
    @classmethod
    def name(cls): return "numbers_PLACE"
    def schema(self): return "id long"
    def reader(self, schema): return Batch()
    def simpleStreamReader(self, schema): return Stream()

class Batch(DataSourceReader):
    def read(self, partition): yield from [(1,), (2,)]

class Stream(SimpleDataSourceStreamReader):
    def initialOffset(self): return {"at": 0}
    def read(self, start): return iter([(n,) for n in range(start["at"], 3)]), {"at": 3}
    def readBetweenOffsets(self, start, end): return iter([(n,) for n in range(start["at"], end["at"])])

class Lines(DataSource):
    @classmethod
    def name(cls): return "lines_PLACE"
    def streamWriter(self, schema, overwrite): return Writer(self.options["file"])

class Writer(DataSourceStreamWriter):
    def __init__(self, file): self.file = file
    def write(self, rows):
        with open(self.file, "a") as file:
            file.writelines(f"{row.id}\\n" for row in rows)
        return WriterCommitMessage()
    def commit(self, messages, batch): pass
    def abort(self, messages, batch): pass
"""
USE_OF_OWN_FORMATS = """
import sys
from pyspark import pipelines as dp
IMPORT
spark.dataSource.register(Numbers)
spark.dataSource.register(Lines)

@dp.table
def streamed_PLACE(): return spark.readStream.format("numbers_PLACE").load()

@dp.materialized_view
def read_PLACE(): return spark.read.format("numbers_PLACE").load()

dp.create_sink("sink_PLACE", "lines_PLACE", {"file": "OUT/PLACE.txt"})

@dp.append_flow(target="sink_PLACE")
def written_PLACE(): return spark.readStream.table("streamed_PLACE")
"""


def test_data_sources_of_imported_modules_are_registered_while_a_source_is_read(lab: Lab) -> None:
    places = {
        "package": ("files/formats_of_test/__init__.py", "from formats_of_test import Lines, Numbers"),
        "module": (
            "files/own_of_test/formats.py",
            "sys.path.append('own_of_test')\nfrom formats import Lines, Numbers",
        ),
        "elsewhere": (
            "elsewhere/other_formats.py",
            "sys.path.insert(0, 'OUT/elsewhere')\nfrom other_formats import Lines, Numbers",
        ),
    }
    for place, (file, imported) in places.items():
        (lab.folder / file).parent.mkdir(parents=True, exist_ok=True)
        (lab.folder / file).write_text(OWN_FORMATS.replace("PLACE", place))
        text = USE_OF_OWN_FORMATS.replace("IMPORT", imported).replace("PLACE", place)
        lab.file(f"use_{place}.py", text.replace("OUT", str(lab.folder)))
    lab.done()
    for place in places:
        assert lab.rows(f"streamed_{place}") == [(0,), (1,), (2,)]
        assert lab.rows(f"read_{place}") == [(1,), (2,)]
        written = (lab.folder / f"{place}.txt").read_text().split()
        assert sorted(written) == ["0", "1", "2"]
