"""`display` in notebooks: tables, HTML and streams."""

from __future__ import annotations

import base64
import html
import itertools
import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakeward.notebooks.recorder import HTML, TEXT, Bundle, Recorder, display_data
from lakeward.notebooks.representations import plain
from lakeward.streaming import current_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


ROWS = 1000
"""The platform shows as many rows of a frame."""
_FIRST_BATCH_SECONDS = 10


def represent(value: Any) -> Bundle:
    """Return the representations of a value, rows as a table."""
    if hasattr(value, "to_spark"):  # pandas on Spark
        value = value.to_spark()
    if hasattr(value, "limit") and hasattr(value, "toDF"):  # a batch frame of Spark's
        rows = value.limit(ROWS).collect()
        return table(value.columns, rows)
    if isinstance(value, list) and value and isinstance(value[0], tuple) and hasattr(value[0], "_fields"):
        columns = list(value[0]._fields)
        return table(columns, value)
    if isinstance(value, list) and value and hasattr(value[0], "asDict"):
        columns = list(value[0].asDict())
        return table(columns, value)
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        columns = list(value[0])
        rows = [[row.get(column) for column in columns] for row in value]
        return table(columns, rows)
    return plain(value)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Bundle:
    """Return rows as a table."""
    return {TEXT: text_table(columns, rows), HTML: html_table(columns, rows)}


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as an HTML table.

    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td{_kind(value)}>{html.escape(_text(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as a text table."""
    lines = [list(columns), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    drawn = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines]
    drawn.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in drawn)


def _kind(value: object) -> str:
    """Return the CSS class of a value that is not text."""
    if value is None:
        return ' class="null"'
    if isinstance(value, bool):
        return ""
    if isinstance(value, int | float | Decimal):
        return ' class="number"'
    return ' class="date"' if isinstance(value, date) else ""


def _text(value: object) -> str:
    """Return a value of a table; structs, arrays and maps as JSON, as the platform shows them.

    >>> _text({"a": [1, None, date(2026, 1, 2)]}), _text(b"ab"), _text(True)
    ('{"a": [1, null, "2026-01-02"]}', 'YWI=', 'true')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, dict | list | tuple):
        return json.dumps(_as_json(value), ensure_ascii=False, default=_text)
    return str(value)


def _as_json(value: object) -> Any:
    """Return structs as objects; keys of maps as text."""
    if isinstance(value, tuple) and hasattr(value, "__fields__"):
        return {name: _as_json(each) for name, each in zip(value.__fields__, value, strict=True)}
    if isinstance(value, dict):
        return {_text(key): _as_json(each) for key, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, list | tuple) else value


class Display:
    """Implements `display(…)` during a notebook run; `close` stops displayed streams."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.queries: list[Any] = []
        self._numbers = itertools.count(1)

    def __call__(self, value: Any = None, *_: Any, **options: Any) -> None:
        html = options.get("html")
        if "clear" in options:
            self.recorder.clear(wait=options["clear"] == "next")
        elif options.get("update"):
            self.recorder.update(represent(value), options["display_id"])
        elif html is not None:
            self.recorder.show({TEXT: "<HTML>", HTML: str(html)})
        elif getattr(value, "isStreaming", False):
            self._stream(value, options)
        elif value is not None and hasattr(value, "savefig"):
            self.recorder.figures()
        elif value is not None:
            made = represent(value)
            self.recorder.show(made, display_id=options.get("display_id"))
            self.recorder.echo(made[TEXT])

    def await_first_batches(self) -> None:
        """Wait until displayed streams have shown the rows that were there, but not for long."""
        end = time.monotonic() + _FIRST_BATCH_SECONDS
        for query in map(current_query, self.queries):
            while query.isActive and time.monotonic() < end:
                if query.lastProgress is not None and not query.status["isDataAvailable"]:
                    break
                time.sleep(0.1)

    def close(self) -> None:
        """Stop displayed streams, record and print their last rows."""
        for query in self.queries:
            current_query(query).stop()
        self.recorder.finish()

    def _stream(self, df: DataFrame, options: dict[str, Any]) -> None:
        """Start a query for a displayed stream, whose rows are recorded at the end of the run."""
        latest = _Latest(df.columns)
        self.queries.append(_start_query(df, latest, options, f"display_query_{next(self._numbers)}"))
        self.recorder.show_late(latest.output)


class _Latest:
    """The current rows of a displayed stream: the last batch, or the latest of all batches."""

    def __init__(self, columns: list[str]) -> None:
        self.columns, self.rows, self.replaces = columns, list[Any](), False
        self._lock = threading.Lock()

    def __call__(self, batch: DataFrame, _: int) -> None:
        rows = batch.limit(ROWS).collect()
        with self._lock:
            self.rows = rows if self.replaces else [*self.rows, *rows][-ROWS:]

    def output(self) -> dict[str, Any]:
        with self._lock:
            return display_data(table(self.columns, self.rows))


def _start_query(df: DataFrame, latest: _Latest, options: dict[str, Any], name: str) -> Any:
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
    except (AnalysisException, StreamingQueryException) as append_error:
        # An aggregation without a watermark is shown as a whole.
        latest.replaces = True
        try:
            return start("complete")
        except AnalysisException as complete_error:
            # Complete mode needs an aggregation. A stream without one has the error of append mode.
            if complete_error.getCondition() == "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION":
                raise append_error from None
            raise
