"""Auto Loader into Delta on real Spark: exactly once, batching-free, snapshots."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from lakeward.autoloader import query_start
from lakeward.autoloader.read_plan import references_metadata


@pytest.mark.rule("6.1.1")
def test_each_file_is_taken_once_and_a_further_run_writes_nothing(landing) -> None:
    landing.put("a.json", {"a": 1}, {"a": 2})
    landing.ingest(landing.stream("a int"))
    assert landing.ingest(landing.stream("a int")) == 0
    landing.put("b.json", {"a": 3})
    landing.ingest(landing.stream("a int"))
    assert landing.rows() == [(1,), (2,), (3,)]
    versions = (
        landing.spark.sql(f"describe history {landing.table}").where("operation = 'STREAMING UPDATE'").count()
    )
    assert versions == 2


@pytest.mark.slow
@pytest.mark.rule("6.4.4")
def test_the_result_does_not_depend_on_files_or_bytes_a_trigger(landing) -> None:
    for number in range(7):
        landing.put(f"{number}.json", {"a": number}, {"a": -number})
    assert landing.ingest(landing.stream("a int", cf_maxFilesPerTrigger=3)) == 3
    small = {"cf_maxBytesPerTrigger": "18b", "cf_maxFilesPerTrigger": "100"}
    expected = landing.rows()
    shutil.rmtree(landing.checkpoint)
    landing.spark.sql(f"drop table {landing.table}")
    assert landing.ingest(landing.stream("a int", **small)) == 7
    assert landing.rows() == expected
    assert len(expected) == 14


@pytest.mark.rule("6.1.5")
def test_a_deleted_checkpoint_is_a_new_stream(landing) -> None:
    landing.put("a.json", {"a": 1})
    landing.ingest(landing.stream("a int"))
    shutil.rmtree(landing.checkpoint)
    landing.ingest(landing.stream("a int"))
    assert landing.rows() == [(1,), (1,)]


def test_two_streams_on_one_folder_and_two_sources_in_one_query_are_independent(landing, tmp_path) -> None:
    landing.put("x/a.json", {"a": 1})
    landing.put("y/b.json", {"a": 2})
    one = landing.stream("a int", path=landing.folder / "x")
    both = one.union(landing.stream("a int", path=landing.folder / "y"))
    landing.ingest(both)
    assert landing.rows() == [(1,), (2,)]
    assert sorted(os.listdir(landing.checkpoint / "sources")) == ["0", "1"]
    landing.put("y/c.json", {"a": 3})
    landing.ingest(
        landing.stream("a int", path=landing.folder / "x").union(
            landing.stream("a int", path=landing.folder / "y")
        )
    )
    assert landing.rows() == [(1,), (2,), (3,)]


def test_one_dataframe_started_twice_keeps_two_checkpoints_apart(landing, tmp_path) -> None:
    landing.put("a.json", {"a": 1})
    df = landing.stream("a int")
    queries = [
        df.writeStream.option("checkpointLocation", str(tmp_path / f"c{n}"))
        .trigger(availableNow=True)
        .toTable(f"{landing.table}_{n}")
        for n in range(2)
    ]
    for query in queries:
        query.awaitTermination()
    for n in range(2):
        assert landing.spark.table(f"{landing.table}_{n}").count() == 1
        assert (tmp_path / f"c{n}" / "sources" / "0" / "files.log").exists()


def test_ended_queries_are_not_kept(landing) -> None:
    landing.put("a.json", {"a": 1})
    for _ in range(3):
        landing.ingest(landing.stream("a int"))
    assert len([query for query in query_start._last_queries.values() if not query.isActive]) == 1


def test_without_a_checkpoint_and_with_the_session_setting(landing, tmp_path) -> None:
    landing.put("a.json", {"a": 1})
    query = (
        landing.stream("a int")
        .writeStream.format("memory")
        .queryName("al_memory")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert landing.spark.table("al_memory").count() == 1
    landing.spark.conf.set("spark.sql.streaming.checkpointLocation", str(tmp_path / "all"))
    try:
        landing.stream("a int").writeStream.queryName("named").trigger(availableNow=True).toTable(
            landing.table
        ).awaitTermination()
    finally:
        landing.spark.conf.unset("spark.sql.streaming.checkpointLocation")
    assert (tmp_path / "all" / "named" / "sources" / "0" / "files.log").exists()


def test_existing_files_are_excluded_only_at_the_first_start(landing) -> None:
    landing.put("old.json", {"a": 1})
    landing.ingest(landing.stream("a int", cf_includeExistingFiles=False))
    landing.put("new.json", {"a": 2})
    landing.ingest(landing.stream("a int", cf_includeExistingFiles=False))
    assert landing.rows() == [(2,)]


@pytest.mark.rule("6.2")
def test_an_overwritten_file_is_ignored_or_read_again_whole(landing) -> None:
    path = landing.put("a.json", {"a": 1}, {"a": 2})
    landing.ingest(landing.stream("a int"))
    landing.put("a.json", {"a": 3})
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 10))
    landing.ingest(landing.stream("a int"))
    assert landing.rows() == [(1,), (2,)]
    landing.ingest(landing.stream("a int", cf_allowOverwrites=True))
    assert landing.rows() == [(1,), (2,), (3,)]


def test_compressed_files_globs_name_filters_and_hidden_names(landing) -> None:
    (landing.folder / "a.json.gz").write_bytes(gzip.compress(b'{"a":1}\n'))
    landing.put("deep/er/b.json", {"a": 2})
    landing.put("_runs/c.json", {"a": 3})
    landing.put(".hidden.json", {"a": 4})
    landing.put("deep/d.txt", {"a": 5})
    landing.ingest(landing.stream("a int", pathGlobFilter="*.json*"))
    assert landing.rows() == [(1,), (2,)]
    landing.ingest(landing.stream("a int", path=f"{landing.folder}/_runs/*"))
    landing.ingest(landing.stream("a int", path=f"{landing.folder}/deep/d.txt"))
    assert landing.rows() == [(1,), (2,), (3,), (5,)]


def test_only_queries_that_look_at_the_metadata_are_given_it(landing) -> None:
    landing.put("a.json", {"a": 1})
    df = landing.stream("a int")
    for blind in (df, df.where("a = 1").groupBy("a").count(), df.union(df), df.withColumn("b", F.lit(1))):
        assert not references_metadata(blind)
    for seeing in (
        df.select("_metadata"),
        df.where("_metadata.file_size > 1").select("a"),
        df.union(df.select(F.col("_metadata.file_size").cast("int"))),
    ):
        assert references_metadata(seeing)


@pytest.mark.rule("5.1")
def test_hidden_metadata_is_there_when_named_and_nowhere_else(landing) -> None:
    path = landing.put("a b.json", {"a": 1})
    df = landing.stream("a int")
    assert df.columns == ["a"]
    landing.ingest(df.where("a = 1").select("*", "_metadata", F.col("_metadata.file_path").alias("path")))
    row = landing.spark.table(landing.table).first()
    assert row.path == f"file:{landing.folder}/a%20b.json"
    assert row._metadata.file_name == "a%20b.json"
    assert (row._metadata.file_size, row._metadata.file_block_start, row._metadata.file_block_length) == (
        9,
        0,
        9,
    )
    assert abs(row._metadata.file_modification_time.timestamp() - path.stat().st_mtime) < 0.001


@pytest.mark.rule("5.2.1")
def test_hive_folders_are_columns(landing) -> None:
    landing.put("year=2024/k=x/a.json", {"a": 1})
    landing.put("year=2025/k=y/b.json", {"a": 2})
    df = landing.stream(cf_inferColumnTypes=True)
    assert df.dtypes == [("a", "bigint"), ("_rescued_data", "string"), ("year", "int"), ("k", "string")]
    landing.ingest(df)
    assert landing.rows("a", "year", "k") == [(1, 2024, "x"), (2, 2025, "y")]


def test_volume_paths_are_shown_as_databricks_shows_them(landing, suite_settings) -> None:
    folder = suite_settings.volumes / "main" / "default" / f"v_{landing.table[-8:]}"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text('{"a": "x"}\n')
    name = f"/Volumes/main/default/{folder.name}"
    for path in (name, f"dbfs:{name}"):
        landing.ingest(
            landing.stream("a int", path=path, rescuedDataColumn="r").select("*", "_metadata.file_path")
        )
    assert landing.rows() == [(None, f'{{"a":"x","_file_path":"dbfs:{name}/a.json"}}', f"dbfs:{name}/a.json")]


@pytest.mark.rule("6.4.1")
def test_a_processing_time_stream_keeps_processing_files(landing) -> None:
    landing.put("a.json", {"a": 1})
    df = landing.stream("a int")
    query = (
        df.writeStream.option("checkpointLocation", str(landing.checkpoint))
        .trigger(processingTime="100 milliseconds")
        .toTable(landing.table)
    )
    try:
        query.processAllAvailable()
        landing.put("b.json", {"a": 2})
        query.processAllAvailable()
    finally:
        query.stop()
    assert landing.rows() == [(1,), (2,)]


@pytest.mark.rule("6.4.3")
def test_trigger_once_takes_everything_in_one_batch(landing) -> None:
    for number in range(5):
        landing.put(f"{number}.json", {"a": number})
    df = landing.stream("a int", cf_maxFilesPerTrigger=2)
    writer = df.writeStream.option("checkpointLocation", str(landing.checkpoint))
    with pytest.warns(DeprecationWarning, match="once=True"):
        writer = writer.trigger(once=True)
    writer.toTable(landing.table).awaitTermination()
    assert (
        landing.spark.sql(f"describe history {landing.table}").where("operation = 'STREAMING UPDATE'").count()
        == 1
    )
    assert len(landing.rows()) == 5


@pytest.mark.rule("6.1.3", "6.6.6")
def test_a_batch_that_failed_in_the_sink_is_replayed_with_the_same_files(landing, failing) -> None:
    landing.put("a.json", {"a": 1})
    taken: list[int] = []

    def broken(df, batch: int) -> None:
        raise RuntimeError("sink")

    def working(df, batch: int) -> None:
        taken.extend(row.a for row in df.collect())

    def run(sink) -> None:
        landing.stream("a int").writeStream.foreachBatch(sink).option(
            "checkpointLocation", str(landing.checkpoint)
        ).trigger(availableNow=True).start().awaitTermination()

    assert "sink" in str(failing(lambda: run(broken)))
    landing.put("b.json", {"a": 2})
    run(working)
    assert taken == [1, 2]
    assert Path(landing.checkpoint / "commits" / "1").exists()


@pytest.mark.rule("1.1.1", "1.1.2")
def test_a_new_session_has_it_too(landing) -> None:
    landing.put("a.json", {"a": 1})
    other = landing.spark.newSession()
    df = (
        other.readStream.format("cloudfiles")
        .option("cloudFiles.FORMAT", "JSON")
        .schema("a int")
        .load(str(landing.folder))
    )
    query = df.writeStream.format("memory").queryName("al_other").trigger(availableNow=True).start()
    query.awaitTermination()
    assert [row.a for row in other.table("al_other").collect()] == [1]
