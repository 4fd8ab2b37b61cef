"""State, progress and source cleaning of real streams (AL-6)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming import StreamingQueryListener

from lakeward.autoloader import cloud_files_state


@pytest.mark.rule("6.5")
def test_progress_names_the_source_and_counts_the_backlog(landing) -> None:
    for number in range(5):
        landing.put(f"{number}.json", {"a": number})
    heard: list[Any] = []

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802  # as Spark calls it
        def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802  # as Spark calls it
        def onQueryProgress(self, event: Any) -> None:  # noqa: N802  # as above
            heard.append(event.progress)

    listener = Listener()
    landing.spark.streams.addListener(listener)
    try:
        query = (
            landing.stream("a int", cf_maxFilesPerTrigger=2)
            .writeStream.option("checkpointLocation", str(landing.checkpoint))
            .trigger(availableNow=True)
            .toTable(landing.table)
        )
        query.awaitTermination()
        landing.spark._jsparkSession.sparkContext().listenerBus().waitUntilEmpty()
    finally:
        landing.spark.streams.removeListener(listener)
    for progresses in (query.recentProgress, [p for p in heard if str(p.runId) == query.runId]):
        batches = [p.sources[0] for p in progresses if p.numInputRows]
        assert [s.description for s in batches] == [f"CloudFilesSource[file:{landing.folder}]"] * 3
        assert [s.metrics["numFilesOutstanding"] for s in batches] == ["3", "1", "0"]
        assert [s.metrics["numBytesOutstanding"] for s in batches] == ["27", "9", "0"]
        assert "CloudFilesSource" in progresses[0].json
    assert query.lastProgress["sources"][0]["description"].startswith("CloudFilesSource[")


@pytest.mark.rule("6.6.1", "6.7")
def test_read_files_are_moved_and_the_state_tells_of_every_file(landing, tmp_path) -> None:
    options = {
        "cf_cleanSource": "MOVE",
        "cf_cleanSource.retentionDuration": "0 seconds",
        "cf_cleanSource.moveDestination": str(tmp_path / "archive"),
    }
    for name in ("a", "b c", "d"):
        landing.put(f"{name}.json", {"a": name})
        landing.ingest(landing.stream("a string", **options))
    assert sorted(os.listdir(landing.folder)) == ["b c.json", "d.json"]
    assert os.listdir(tmp_path / "archive") == ["a.json"]
    assert landing.rows() == [("a",), ("b c",), ("d",)]
    state = cloud_files_state(landing.spark, str(landing.checkpoint))
    rows = state.where("ingestion_state = 'INGESTED' and commit_time is not null").collect()
    assert sorted((Path(row.path).name, row.size, row.archive_mode, row.source_id) for row in rows) == [
        ("a.json", 11, "MOVE", "0"),
        ("b c.json", 13, None, "0"),
        ("d.json", 11, None, "0"),
    ]
    assert all(row.discovery_time < row.commit_time for row in rows)


@pytest.mark.rule("6.7")
def test_a_corrupt_file_is_marked_as_skipped_until_it_is_read(landing, failing) -> None:
    landing.put("a.json", {"a": 1})
    landing.put("b.json.gz", text="not packed")
    failing(lambda: landing.ingest(landing.stream("a int")))
    landing.ingest(landing.stream("a int", ignoreCorruptFiles=True))
    assert landing.rows() == [(1,)]
    states = landing.spark.sql(f"SELECT path, ingestion_state FROM cloud_files_state('{landing.checkpoint}')")
    assert {Path(row.path).name: row.ingestion_state for row in states.collect()} == {
        "a.json": "INGESTED",
        "b.json.gz": "SKIPPED_CORRUPTED",
    }


def forget(folder: Path, name: str) -> None:
    for path in (folder / name, folder / f".{name}.crc"):
        path.unlink(missing_ok=True)


def offset_not_written(checkpoint: Path, table: Path) -> None:
    sink_not_committed(checkpoint, table)
    forget(checkpoint / "offsets", "1")


def state_half_written(checkpoint: Path, table: Path) -> None:
    offset_not_written(checkpoint, table)
    log = checkpoint / "sources" / "0" / "files.log"
    os.truncate(log, log.stat().st_size - 5)


def sink_not_committed(checkpoint: Path, table: Path) -> None:
    commit_not_logged(checkpoint, table)
    forget(table / "_delta_log", f"{1:020}.json")
    forget(table / "_delta_log", f"{1:020}.crc")


def commit_not_logged(checkpoint: Path, table: Path) -> None:
    forget(checkpoint / "commits", "1")


@pytest.mark.rule("6.1.3")
def test_every_row_is_there_once_whatever_a_crash_left_on_the_disk(landing, tmp_path) -> None:
    """Kill points of a batch, in order; what data files an uncommitted batch leaves stay as they are."""

    def run(checkpoint: Path, table: Path) -> None:
        landing.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        writer = landing.stream("a int").writeStream.option("checkpointLocation", str(checkpoint))
        writer.trigger(availableNow=True).start(str(table)).awaitTermination()

    whole = tmp_path / "whole"
    landing.put("a.json", {"a": 1}, {"a": 2})
    run(whole / "checkpoint", whole / "table")
    landing.put("b.json", {"a": 3})
    run(whole / "checkpoint", whole / "table")
    landing.put("c.json", {"a": 4})
    points: tuple[Callable[[Path, Path], None], ...] = (
        state_half_written,
        offset_not_written,
        sink_not_committed,
        commit_not_logged,
    )
    for point in points:
        left = shutil.copytree(whole, tmp_path / point.__name__)
        point(left / "checkpoint", left / "table")
        run(left / "checkpoint", left / "table")
        rows = landing.spark.read.format("delta").load(str(left / "table")).collect()
        assert sorted(row.a for row in rows) == [1, 2, 3, 4], point.__name__


def test_names_of_any_kind_are_read_and_shown_as_spark_shows_them(landing) -> None:
    names = ["a b", "100%", "#1", "😀", "x" * 250]
    for name in names:
        landing.put(f"{name}.json", {"a": name})
    landing.ingest(landing.stream("a string").selectExpr("a", "_metadata.file_path as path"))
    shown = landing.spark.read.json(str(landing.folder)).selectExpr("a", "_metadata.file_path as path")
    assert landing.rows() == sorted((tuple(row) for row in shown.collect()), key=repr)
    assert len(landing.rows()) == len(names)


def test_a_file_that_grows_after_it_was_read_is_not_read_again(landing) -> None:
    landing.put("a.json", text='{"a": 1}\n{"a": ')
    landing.ingest(landing.stream("a int"))
    landing.put("a.json", {"a": 1}, {"a": 2})
    landing.put("b.json", {"a": 3})
    landing.ingest(landing.stream("a int"))
    assert landing.rows() == [(1,), (3,), (None,)]


def test_a_checkpoint_of_a_newer_version_fails_the_stream(landing, failing) -> None:
    landing.put("a.json", {"a": 1})
    landing.ingest(landing.stream("a int"))
    log = landing.checkpoint / "sources" / "0" / "files.log"
    log.write_bytes(log.read_bytes().replace(b"state 2", b"state 9", 1))
    error = failing(lambda: landing.ingest(landing.stream("a int")))
    assert "CF_UNSUPPORTED_LOG_VERSION" in str(error)
    assert "version 9" in str(error)


def test_cleaning_that_would_lose_data_is_refused_at_the_start(landing) -> None:
    landing.put("a.json", {"a": 1})
    with pytest.raises(Exception, match="CF_CLEAN_SOURCE_ALLOW_OVERWRITES_BOTH_ON"):
        landing.ingest(landing.stream("a int", cf_cleanSource="DELETE", cf_allowOverwrites=True))


def test_deleted_schemas_are_inferred_again(landing) -> None:
    landing.put("a.json", {"a": 1})
    landing.ingest(landing.stream())
    shutil.rmtree(landing.schemas / "_schemas")
    landing.put("b.json", {"a": 2})
    landing.ingest(landing.stream())
    assert landing.schema_versions() == ["0"]
    assert landing.rows("a") == [("1",), ("2",)]
