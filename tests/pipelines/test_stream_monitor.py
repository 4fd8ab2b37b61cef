"""Micro-batches are reported while their query runs, each one once."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

from lakeward.pipelines.events.progress_reporter import StreamMonitor
from lakeward.pipelines.graph.elements import Dataset


class Query:
    """A streaming query whose batches are given."""

    def __init__(self, run: str = "r") -> None:
        self.run, self.isActive, self.looks = run, True, 0
        self.batches: list[str] = []

    def batch(self, number: int, timestamp: str = "t") -> None:
        self.batches.append(json.dumps({"runId": self.run, "batchId": number, "timestamp": timestamp}))

    @property
    def lastProgress(self) -> Any:  # noqa: N802  # PySpark's name
        self.looks += 1
        return SimpleNamespace(json=self.batches[-1]) if self.batches else None


class Monitored:
    def __init__(self) -> None:
        self.now, self.seen = 0.0, list[tuple[str, int]]()
        self.monitor = StreamMonitor(self.report, lambda: self.now)
        self.dataset = cast("Dataset", object())

    def report(self, dataset: Dataset, flow: str, batch: dict[str, Any]) -> None:
        assert dataset is self.dataset
        self.seen.append((flow, batch["batchId"]))

    def after(self, seconds: float) -> list[tuple[str, int]]:
        self.now += seconds
        self.monitor.poll()
        return self.seen


def test_a_batch_is_reported_before_its_query_has_ended() -> None:
    monitored, query = Monitored(), Query()
    monitored.monitor.watch(monitored.dataset, "f", query)
    assert monitored.after(2) == []
    query.batch(0)
    assert monitored.after(2) == [("f", 0)]
    assert monitored.after(2) == [("f", 0)]


def test_a_query_is_looked_at_once_a_second() -> None:
    monitored, query = Monitored(), Query()
    monitored.monitor.watch(monitored.dataset, "f", query)
    for _ in range(20):
        monitored.after(0.25)
    assert query.looks == 5


def test_batches_between_two_looks_follow_at_the_end_and_none_comes_twice() -> None:
    monitored, query = Monitored(), Query()
    monitored.monitor.watch(monitored.dataset, "f", query)
    query.batch(0)
    query.batch(1)
    assert monitored.after(2) == [("f", 1)]
    query.batch(2)
    query.isActive = False
    assert monitored.after(2) == [("f", 1)]
    monitored.monitor.complete(monitored.dataset, "f", query.batches)
    assert monitored.seen == [("f", 1), ("f", 0), ("f", 2)]


def test_a_restarted_query_and_two_flows_are_distinguished() -> None:
    monitored, first, second = Monitored(), Query("one"), Query("two")
    for name, query in (("a", first), ("b", second)):
        monitored.monitor.watch(monitored.dataset, name, query)
        query.batch(0)
    assert monitored.after(2) == [("a", 0), ("b", 0)]


def test_an_ended_query_is_not_looked_at_again() -> None:
    monitored, query = Monitored(), Query()
    monitored.monitor.watch(monitored.dataset, "f", query)
    query.isActive = False
    monitored.after(2)
    monitored.after(2)
    assert query.looks == 0
