"""`display` in a notebook: frames, streams, HTML and other values become outputs of the cell."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any

from lakeward.notebooks.recording import Recorder, display_data
from lakeward.notebooks.tables import ROWS, html_table, shown, text_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Display"]


class Display:
    """What `display(…)` calls while a notebook runs. Streams that it shows are stopped by `close`."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.queries: list[Any] = []
        self._numbers = itertools.count(1)

    def __call__(self, value: Any = None, *_: Any, **options: Any) -> None:
        html = options.get("html")
        if html is not None:
            self.recorder.show(text="<HTML>", html=str(html))
        elif getattr(value, "isStreaming", False):
            self._stream(value, options)
        elif value is not None and hasattr(value, "savefig"):
            self.recorder.figures()
        elif value is not None:
            made = shown(value)
            self.recorder.show(**made)
            self.recorder.echo(made["text"])

    def close(self) -> None:
        """Stop the streams that are shown, and show where they got to."""
        for query in self.queries:
            query.stop()
        self.recorder.finish()

    def _stream(self, df: DataFrame, options: dict[str, Any]) -> None:
        """Show a stream as of the end of the run; it is a query like any other meanwhile."""
        latest = _Latest(df.columns)
        self.queries.append(_started(df, latest, options, f"display_query_{next(self._numbers)}"))
        self.recorder.show_late(latest.output)


class _Latest:
    """The rows that a shown stream has by now: all of the last batch, or the newest of all."""

    def __init__(self, columns: list[str]) -> None:
        self.columns, self.rows, self.replaces = columns, list[Any](), False
        self._lock = threading.Lock()

    def __call__(self, batch: DataFrame, _: int) -> None:
        rows = batch.limit(ROWS).collect()
        with self._lock:
            self.rows = rows if self.replaces else [*self.rows, *rows][-ROWS:]

    def output(self) -> dict[str, Any]:
        with self._lock:
            text, html = text_table(self.columns, self.rows), html_table(self.columns, self.rows)
        return display_data(text=text, html=html)


def _started(df: DataFrame, latest: _Latest, options: dict[str, Any], name: str) -> Any:
    from pyspark.errors import AnalysisException, StreamingQueryException

    def start(mode: str) -> Any:
        writer = (
            df.writeStream.foreachBatch(latest).outputMode(mode).queryName(options.get("streamName") or name)
        )
        if options.get("checkpointLocation"):
            writer = writer.option("checkpointLocation", str(options["checkpointLocation"]))
        trigger = options.get("trigger") or (
            {"processingTime": options["processingTime"]} if options.get("processingTime") else None
        )
        return (writer.trigger(**trigger) if isinstance(trigger, dict) else writer).start()

    try:
        return start("append")
    except (AnalysisException, StreamingQueryException):
        # An aggregation without a watermark is shown as a whole.
        latest.replaces = True
        return start("complete")
