"""Reports the micro-batches of streaming queries while they run, each one once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from lakeward.pipelines.graph.elements import Dataset

Batch = dict[str, Any]
_POLL_SECONDS = 1.0


class StreamMonitor:
    """Reports the last micro-batch of each running query at most once a second.

    A look at a query costs milliseconds, so batches in between are left for `complete`, which gets all of
    them when the flow has ended.
    """

    def __init__(self, report: Callable[[Dataset, str, Batch], None], clock: Callable[[], float]) -> None:
        self._report, self._clock = report, clock
        self._watched: list[tuple[Dataset, str, Any]] = []
        self._reported: set[tuple[str, Any, str]] = set()
        self._last = clock()

    def watch(self, dataset: Dataset, flow: str, query: Any) -> None:
        """Include a started query."""
        self._watched.append((dataset, flow, query))

    def poll(self) -> None:
        """Report what is new of the running queries, if the last look was a second ago."""
        if not self._watched or self._clock() - self._last < _POLL_SECONDS:
            return
        self._watched = [each for each in self._watched if each[2].isActive]
        for dataset, flow, query in self._watched:
            progress = query.lastProgress
            if progress is not None:
                self._add(dataset, flow, json.loads(progress.json))
        self._last = self._clock()

    def complete(self, dataset: Dataset, flow: str, batches: Sequence[str]) -> None:
        """Report the batches of a flow that has ended, as JSON, without those that were reported."""
        for batch in batches:
            self._add(dataset, flow, json.loads(batch))

    def _add(self, dataset: Dataset, flow: str, batch: Batch) -> None:
        key = (str(batch.get("runId")), batch.get("batchId"), str(batch.get("timestamp")))
        if key not in self._reported:
            self._reported.add(key)
            self._report(dataset, flow, batch)
