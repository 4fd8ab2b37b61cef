"""`--watch`: the micro-batches that pipelines report while they run."""

from __future__ import annotations

import io
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from lakeward.cli.output_streams import Streams
from lakeward.cli.progress_display import LineDisplay, LiveDisplay, ProgressBoard
from lakeward.cli.stream_watch import BatchReader, TaskBatchReader, watching_streams
from lakeward.session import Settings
from tests.report.events import START, Events

PROGRESS = {
    "numInputRows": 1200,
    "batchDuration": 750,
    "timestamp": "2026-05-01T06:00:30.000Z",
    "eventTime": {"watermark": "2026-05-01T06:00:00.000Z"},
    "stateOperators": [{"numRowsTotal": 1000, "numRowsDroppedByWatermark": 2}],
    "sources": [
        {
            "inputRowsPerSecond": 120.4,
            "processedRowsPerSecond": 1600.0,
            "metrics": {"numFilesOutstanding": "4", "numBytesOutstanding": "2048"},
        }
    ],
}
LINE = (
    "orders: batch 3, 1,200 rows in 0.8 s, 120 rows/s in, 1,600 rows/s processed, "
    "backlog 4 files, 2,048 bytes, 1,000 state rows, 2 late rows dropped, watermark 30 s behind"
)


def lines(update: str, *numbers: int) -> str:
    events = Events(update)
    for number in numbers:
        events.add("stream_progress", {"progress": {**PROGRESS, "batchId": number}}, "main.shop.orders")
    return events.lines()


def numbers(reader: BatchReader) -> list[Any]:
    return [batch["batch"] for _, batch in reader.read()]


def test_batches_are_read_once_as_the_file_grows(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    reader = BatchReader([tmp_path], START)
    assert numbers(reader) == []
    text = lines("one", 0, 1, 2)
    first, second, _ = text.splitlines(keepends=True)
    file.write_text(first + second[:40])
    assert numbers(reader) == [0]
    file.write_text(first + second)
    assert numbers(reader) == [1]
    file.write_text(text)
    assert (numbers(reader), numbers(reader)) == ([2], [])


def test_the_file_of_another_update_is_read_from_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    reader = BatchReader([tmp_path], START)
    file.write_text(lines("one", 0, 1))
    assert numbers(reader) == [0, 1]
    # Longer than the one before, as if nothing but lines had been added.
    file.write_text(lines("two", 5, 6, 7))
    assert numbers(reader) == [5, 6, 7]


def test_batches_of_earlier_updates_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(lines("before", 0, 1, 2))
    assert numbers(BatchReader([tmp_path], START + timedelta(seconds=1))) == [1, 2]
    assert numbers(BatchReader([tmp_path], START + timedelta(days=1))) == []


def test_an_empty_batch_is_shown_for_its_state_alone(tmp_path: Path) -> None:
    events = Events("one")
    state = [{"numRowsTotal": 0}]
    for number, progress in enumerate(
        ({"numInputRows": 0}, {"numInputRows": 0, "stateOperators": state}, {"numInputRows": 1})
    ):
        events.add("stream_progress", {"progress": {**progress, "batchId": number}}, "a")
    (tmp_path / "events.jsonl").write_text(events.lines())
    assert numbers(BatchReader([tmp_path], START)) == [1, 2]


def test_damaged_lines_are_skipped(tmp_path: Path) -> None:
    damaged = (
        'no json\n[1]\n{"event_type": "stream_progress"}\n{"event_type": "stream_progress", "details": 1}\n'
    )
    (tmp_path / "events.jsonl").write_text(damaged + lines("one", 0))
    assert numbers(BatchReader([tmp_path], START)) == [0]


def test_what_is_written_last_is_shown_before_the_block_ends(tmp_path: Path) -> None:
    seen: list[str] = []
    future = Events("one", day=400_000)
    future.add("stream_progress", {"progress": PROGRESS}, "main.shop.orders")
    settings = Settings.here(tmp_path, environ={})
    storage = settings.pipelines / "orders"
    storage.mkdir(parents=True)
    with watching_streams(settings, ["orders"], lambda flow, _: seen.append(flow)):
        (storage / "events.jsonl").write_text(future.lines())
    assert seen == ["main.shop.orders"]


def test_batches_of_this_run_s_tasks_are_shown_once(tmp_path: Path) -> None:
    def store(name: str, process: int, *numbers: int, started: str = START.isoformat()) -> None:
        batches = [{**PROGRESS, "batchId": number} for number in numbers]
        query = {"name": "display_query_1", "batches": batches}
        found = {"task_key": name, "processes": [process], "started": started, "queries": [query]}
        (tmp_path / f"1.{name}.json").write_text(json.dumps(found))

    reader = TaskBatchReader(tmp_path, START)
    assert not list(reader.read())
    store("clicks", os.getpid(), 0, 1)
    store("another run", 0, 5)
    store("earlier", os.getpid(), 6, started=(START - timedelta(seconds=1)).isoformat())
    (tmp_path / "1.damaged.json").write_text("{")
    found = list(reader.read())
    assert [(name, batch["batch"]) for name, batch in found] == [
        ("clicks display_query_1", 0),
        ("clicks display_query_1", 1),
    ]
    store("clicks", os.getpid(), 1, 2)
    assert [batch["batch"] for _, batch in reader.read()] == [2]


def test_a_batch_is_a_line_or_a_row_of_the_living_table(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(lines("one", 3))
    ((flow, batch),) = BatchReader([tmp_path], START).read()
    err = io.StringIO()
    plain = LineDisplay(ProgressBoard("run", lambda: 0.0), Streams(io.StringIO(), err))
    plain.batch(flow, batch)
    assert err.getvalue() == f"    0.0 s  {LINE}\n"
    living = LiveDisplay(ProgressBoard("run", lambda: 0.0))
    living.batch(flow, batch)
    console = Console(file=io.StringIO(), width=200, record=True)
    console.print(living)
    assert f"  {LINE}" in console.export_text()
