"""Links, limits and channels of statements, without Spark."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import pytest

from lakeward.session import Settings
from lakeward.workspace.process_channel import ProcessChannel
from lakeward.workspace.warehouse import engine
from lakeward.workspace.warehouse.execution import StatementOrder
from lakeward.workspace.warehouse.result_links import LINK_SECONDS, ResultLinks
from lakeward.workspace.warehouse.statement_results import Limits, parts
from tests.workspace.server import until

pa = pytest.importorskip("pyarrow")


def test_a_link_expires_after_15_minutes_and_is_bound_to_chunk_time_and_server() -> None:
    moment = [1000.0]
    links = ResultLinks(lambda: moment[0])
    found = links.link("http://127.0.0.1:1", "id/0")
    query = dict(parse_qsl(urlsplit(found["external_link"]).query))
    assert found["expiration"] == "1970-01-01T00:31:40.000Z"
    assert links.is_valid("id/0", query)
    assert not links.is_valid("id/1", query)
    assert not links.is_valid("id/0", {**query, "expires": "9999999999"})
    assert not links.is_valid("id/0", {"expires": query["expires"]})
    assert not links.is_valid("id/0", {})
    assert not ResultLinks(lambda: moment[0]).is_valid("id/0", query)
    moment[0] += LINK_SECONDS + 1
    assert not links.is_valid("id/0", query)


def batch(first: int, rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"n": list(range(first, first + rows))})


@pytest.mark.parametrize(
    ("rows", "size", "kept", "reached"),
    [
        (None, 10**6, 10, False),
        (10, 10**6, 10, False),
        (9, 10**6, 9, True),
        (5, 10**6, 5, True),
        (None, 40, 5, True),
    ],
)
def test_limits_keep_the_first_rows_and_report_what_they_leave_out(
    rows: int | None, size: int, kept: int, reached: bool
) -> None:
    limits = Limits(rows, size)
    found = list(limits.apply([batch(0, 5), batch(5, 5)]))
    assert [n for each in found for n in each.column(0).to_pylist()] == list(range(kept))
    assert limits.reached is reached


def test_chunks_hold_whole_batches_up_to_their_size() -> None:
    batches = [batch(0, 10), batch(10, 10), batch(20, 10)]
    sizes = [[each.num_rows for each in part] for part in parts(batches, 160)]
    assert sizes == [[10, 10], [10]]


def test_a_process_that_reads_nothing_blocks_no_sender(tmp_path: Path) -> None:
    ended: list[int] = []
    channel = ProcessChannel(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        environ={},
        log=tmp_path / "log",
        on_message=lambda message: None,
        on_exit=lambda code: ended.append(code),
    )
    channel.start()

    def send() -> None:
        for _ in range(20):
            channel.send({"run": "x" * 1_000_000})

    # In a thread: a sender that is blocked would be until the process ends.
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    sender.join(60)
    assert not sender.is_alive()
    channel.stop()
    assert until(lambda: ended) == [-15]
    channel.wait(1)


def test_what_start_up_prints_is_no_message(tmp_path: Path) -> None:
    received: list[dict[str, Any]] = []
    ended: list[int] = []
    channel = ProcessChannel(
        [sys.executable, "-c", """print('hello'); print('{"id": 1}')"""],
        environ={},
        log=tmp_path / "log",
        on_message=received.append,
        on_exit=ended.append,
    )
    channel.start()
    assert until(lambda: ended) == [0]
    assert received == [{"id": 1}]


class Process:
    """A statement process that runs its statements forever."""

    started: ClassVar[list[Process]] = []

    def __init__(self, command: list[str], **_: object) -> None:
        self.is_alive = True
        self.sent: list[dict[str, Any]] = []
        self.started.append(self)

    def start(self) -> None: ...

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def stop(self) -> None:
        self.is_alive = False

    def wait(self, seconds: float) -> None: ...


def test_a_stopped_warehouse_aborts_its_statements_and_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "ProcessChannel", Process)
    monkeypatch.setattr(Process, "started", [])
    warehouse = engine.Warehouse(Settings(tmp_path, home=tmp_path), tmp_path)
    ends: list[Any] = []
    statement = StatementOrder("SELECT 1")
    count = engine.CONCURRENT_STATEMENTS + 1
    for number in range(count):
        warehouse.submit(str(number), statement, on_end=ends.append)
    warehouse.start()
    assert (warehouse.is_running, len(Process.started)) == (True, 1)
    warehouse.stop()
    assert [each.error_code for each in ends] == ["ABORTED"] * count
    assert not warehouse.is_running
    warehouse.submit("next", statement, on_end=ends.append)
    assert [process.sent[0]["id"] for process in Process.started] == ["0", "next"]
    assert warehouse.is_running
    warehouse.close()
    warehouse.start()
    warehouse.submit("last", statement, on_end=ends.append)
    assert (warehouse.is_running, len(Process.started), len(ends)) == (False, 2, count + 2)
