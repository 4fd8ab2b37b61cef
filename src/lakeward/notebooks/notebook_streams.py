"""Streaming queries that a notebook has started: their ends, and errors that no cell has received."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from lakeward.notebooks.recorder import CellRecord, Recorder
from lakeward.streaming import current_query, unreceived_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A stream that takes what there is ends sooner.
_SILENT_SECONDS = 5
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class StartedQuery:
    """A query, the cell that has started it, and the line of the file that did; None if it is not known."""

    query: Any
    record: CellRecord
    line: int | None


class NotebookStreams:
    """The queries that a notebook starts.

    `files` are the names of the notebook's files in tracebacks; more are added while cells run.
    """

    def __init__(self, spark: SparkSession, recorder: Recorder, files: Collection[str]) -> None:
        self._spark, self._recorder, self._files = spark, recorder, files
        self._before = {query.id for query in spark.streams.active}
        self._started: list[StartedQuery] = []

    def add(self, query: Any) -> None:
        """Include a query that has just been started."""
        if self._recorder.cells:
            self._started.append(StartedQuery(query, self._recorder.current, self._line()))

    def _line(self) -> int | None:
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code.co_filename not in self._files:
            frame = frame.f_back
        return None if frame is None else frame.f_lineno

    def await_ends(self, shown: Sequence[Any], on_wait: Callable[[Sequence[str]], None] | None) -> None:
        """Wait for the end of all queries but those in `shown`, which end with the notebook.

        `on_wait` receives the names of those that take longer, again if they change.
        """
        announced: list[str] = []
        silent_until = time.monotonic() + _SILENT_SECONDS
        while active := self._active(shown):
            names = sorted(each.name or str(each.id) for each in active)
            if on_wait is not None and names != announced and time.monotonic() > silent_until:
                on_wait(announced := names)
            time.sleep(_POLL_SECONDS)

    def _active(self, shown: Sequence[Any]) -> list[Any]:
        # A query that was restarted meanwhile is another one.
        left_out = self._before | {current_query(query).id for query in shown}
        return [each for each in self._spark.streams.active if each.id not in left_out]

    def find_failure(self) -> tuple[StartedQuery, Exception] | None:
        """Return the first query that has failed without any code that received its error, and the error.

        As a job's run on the platform, the notebook fails with it.
        Source: https://docs.databricks.com/aws/en/structured-streaming/production
        """
        for each in self._started:
            error = unreceived_error(current_query(each.query))
            if error is not None:
                return each, error
        return None
