"""Streaming queries of a task: what other processes see of them, and how they stop and restart them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeward.dbutils import remember
from lakeward.streaming import current, live_queries, query_file, read_queries, request_file, watching
from tests import processes
from tests.streaming.conftest import Streams

WAIT = 60.0


@pytest.fixture(autouse=True)
def _polled_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_queries, "_POLL_SECONDS", 0.05)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return query_file(tmp_path / "live", "7", "clicks")


@pytest.fixture
def watched(file: Path) -> Iterator[None]:
    with watching(file.parent, "7", "clicks"):
        yield


def until(file: Path, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the first query of the file as soon as the condition holds."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        found = read_queries(file)
        if found and holds(found["queries"][0]):
            return dict(found["queries"][0])
        time.sleep(0.02)
    raise AssertionError(f"not within {WAIT} s: {read_queries(file)}")


def start(streams: Streams, name: str = "shown") -> Any:
    writer = streams.stream().writeStream.format("delta").queryName(name)
    place = streams.folder / name
    return writer.option("checkpointLocation", str(place / "checkpoint")).start(str(place / "table"))


def request(file: Path, action: Any, number: int = 0) -> None:
    request_file(file, number, action).touch()


def test_a_query_is_shown_stopped_and_restarted(streams: Streams, file: Path, watched: None) -> None:
    query = start(streams)
    shown = until(file, lambda each: bool(each["batches"]))
    assert (shown["name"], shown["state"], shown["error"]) == ("shown", "RUNNING", "")
    assert shown["batches"][0]["numInputRows"] == 3
    request(file, "stop")
    assert until(file, lambda each: each["state"] != "RUNNING")["state"] == "STOPPED"
    assert not query.isActive
    assert not request_file(file, 0, "stop").exists()
    request(file, "restart")
    until(file, lambda each: each["state"] == "RUNNING")
    restarted = current(query)
    assert restarted is not query
    # It continues from the checkpoint of the first one.
    streams.spark.sql(f"INSERT INTO {streams.table} VALUES (9L, timestamp'2024-01-03', 'c')")
    rows = until(file, lambda each: sum(batch["numInputRows"] for batch in each["batches"]) > 3)
    assert sum(batch["numInputRows"] for batch in rows["batches"]) == 4
    restarted.stop()


def test_batches_between_two_looks_are_shown(
    streams: Streams, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_queries, "_POLL_SECONDS", 3600)
    with watching(file.parent, "7", "clicks"):
        query = start(streams)
        query.processAllAvailable()
        streams.spark.sql(f"INSERT INTO {streams.table} VALUES (9L, timestamp'2024-01-03', 'c')")
        query.processAllAvailable()
        # The newest progress is one without rows.
        processes.until(lambda: query.lastProgress.numInputRows == 0, WAIT)
        live = live_queries._live
        assert live is not None
        live.poll()
        shown = read_queries(file)
        assert shown is not None
        assert sum(batch["numInputRows"] for batch in shown["queries"][0]["batches"]) == 4
        assert shown["queries"][0]["state"] == "RUNNING"
        query.stop()


def test_a_restarted_query_is_the_one_that_its_code_holds(
    streams: Streams, file: Path, watched: None
) -> None:
    query = start(streams, "replaced")
    until(file, lambda each: bool(each["batches"]))
    ended = threading.Event()

    def wait() -> None:
        query.awaitTermination()
        ended.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    request(file, "restart")
    processes.until(lambda: current(query) is not query)
    # Neither wait ends with the query that was replaced.
    assert query.awaitTermination(1) is False
    assert query.isActive
    assert not ended.is_set()
    query.stop()
    assert ended.wait(WAIT)
    assert not current(query).isActive
    assert not query.isActive
    assert query.awaitTermination(1) is True


def test_a_restart_that_fails_is_shown(streams: Streams, file: Path, watched: None) -> None:
    """The memory sink does not continue from a checkpoint."""
    writer = streams.stream().writeStream.format("memory").queryName("in_memory")
    query = writer.option("checkpointLocation", str(streams.folder / "in_memory")).start()
    until(file, lambda each: bool(each["batches"]))
    request(file, "restart")
    error = until(file, lambda each: each["state"] == "FAILED")["error"]
    assert "checkpoint" in error
    assert current(query) is query


def test_a_failed_query_has_its_error_without_secrets(streams: Streams, file: Path) -> None:
    remember(b"s3cret-of-streams")

    def fail(*_: Any) -> None:
        raise ValueError("the key s3cret-of-streams is wrong")

    with watching(file.parent, "7", "clicks"):
        streams.stream().writeStream.foreachBatch(fail).start()
        error = until(file, lambda each: each["state"] == "FAILED")["error"]
    assert "the key [REDACTED] is wrong" in error
    found = read_queries(file)
    assert found is not None
    assert (found["ended"], found["run_id"], found["task_key"]) == (True, "7", "clicks")
    assert "s3cret-of-streams" not in file.read_text()


def test_a_query_that_has_taken_everything_is_completed(streams: Streams, file: Path) -> None:
    with watching(file.parent, "7", "clicks"):
        streams.run(streams.stream(), "append", {"availableNow": True})
    found = read_queries(file)
    assert found is not None
    (query,) = found["queries"]
    assert (query["state"], sum(each["numInputRows"] for each in query["batches"])) == ("COMPLETED", 3)


def test_the_task_waits_for_a_restarted_query(streams: Streams, file: Path) -> None:
    with watching(file.parent, "7", "clicks"):
        query = start(streams, "awaited")
        until(file, lambda each: bool(each["batches"]))
        request(file, "restart")
        processes.until(lambda: current(query) is not query)
        request(file, "stop")
    assert not current(query).isActive
    found = read_queries(file)
    assert found is not None
    assert found["queries"][0]["state"] == "STOPPED"


def test_without_queries_nothing_is_written(file: Path, watched: None) -> None:
    assert not file.parent.exists()


def test_a_damaged_file_has_no_queries(file: Path) -> None:
    file.parent.mkdir()
    for text in ("", "{", "[]", '{"queries": 3}'):
        file.write_text(text)
        assert read_queries(file) is None
