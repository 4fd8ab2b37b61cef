"""Replacements for methods of PySpark's stream readers and writers."""

from __future__ import annotations

import time
import warnings
from functools import partial, wraps
from typing import Any

from lakeward.patching import Order, PatchSpec, Wrapped
from lakeward.streaming.live_queries import add_started_query, current_query
from lakeward.streaming.query_errors import receive_errors, shorten_interruptions


def add_table(before: Wrapped) -> Any:
    """Return `writeStream.table`: the platform's older name of `toTable`."""
    del before

    def table(self: Any, tableName: str) -> Any:  # as `toTable` names it
        """Start the query and write its rows to the table."""
        return self.toTable(tableName)

    return table


def report_started(before: Wrapped) -> Any:
    """Return `start` or `toTable`, which make the query known to the run's live view."""

    @wraps(before)
    def start(self: Any, *arguments: Any, **named: Any) -> Any:
        query = before(self, *arguments, **named)
        add_started_query(query, partial(before, self, *arguments, **named))
        return query

    return start


def await_restarted(before: Wrapped) -> Any:
    """Return `awaitTermination`, which waits for the restarted query, too."""

    @wraps(before)
    def await_termination(self: Any, timeout: int | None = None) -> bool | None:
        if timeout is None:
            query = None
            while query is not (newest := current_query(self)):
                query = newest
                before(query)
            return None
        end = time.monotonic() + timeout
        # The first wait gets the timeout as it is given: Spark refuses one that is not positive.
        has_ended: bool = before(query := current_query(self), timeout)
        while has_ended and query is not (newest := current_query(self)):
            query = newest
            has_ended = before(query, max(0.001, end - time.monotonic()))
        return has_ended

    return await_termination


def stop_restarted(before: Wrapped) -> Any:
    """Return `stop`, which stops the query that runs in place of a restarted one."""

    @wraps(before)
    def stop(self: Any) -> None:
        before(current_query(self))

    return stop


def tell_restarted(before: property) -> property:
    """Return `isActive`, which is true while the query that runs in place of a restarted one is active."""
    is_active: Any = before.fget
    return property(lambda self: is_active(current_query(self)), doc=before.__doc__)


def warn_on_once(before: Wrapped) -> Any:
    """Return `trigger` with a warning for `once=True`."""

    @wraps(before)
    def trigger(self: Any, *arguments: Any, **named: Any) -> Any:
        if named.get("once"):
            warnings.warn(
                "trigger(once=True) is deprecated: it takes everything in one batch, whatever the limits."
                " Use trigger(availableNow=True).",
                DeprecationWarning,
                stacklevel=2,
            )
        return before(self, *arguments, **named)

    return trigger


_WRITER = "pyspark.sql.streaming.readwriter:DataStreamWriter"
_QUERY = "pyspark.sql.streaming.query:StreamingQuery"
_QUERIES = "pyspark.sql.streaming.query:StreamingQueryManager"
_RESTARTED = "the live view replaces a restarted query with a new one"
_LIVE = "the live view shows running queries"
_RECEIVED = "errors of queries that no code receives fail a notebook"
# Around the other layers: a restart calls them again.
PATCHES = (
    PatchSpec(_WRITER, "table", "streaming", "writeStream.table is toTable", add_table),
    # The warning names the caller's line, so no other layer may wrap it.
    PatchSpec(
        _WRITER,
        "trigger",
        "streaming",
        "trigger(once=True) is deprecated",
        warn_on_once,
        Order.NOTICE,
    ),
    PatchSpec(_WRITER, "start", "streaming", _LIVE, report_started, Order.FALLBACK),
    PatchSpec(_WRITER, "toTable", "streaming", _LIVE, report_started, Order.FALLBACK),
    PatchSpec(_QUERY, "awaitTermination", "streaming", _RESTARTED, await_restarted),
    PatchSpec(_QUERY, "stop", "streaming", _RESTARTED, stop_restarted),
    PatchSpec(_QUERY, "isActive", "streaming", _RESTARTED, tell_restarted),
    PatchSpec(
        _WRITER,
        "foreachBatch",
        "streaming",
        "Spark's thread overflows where the error of a stopped batch is long",
        shorten_interruptions,
    ),
    *(
        PatchSpec(owner, name, "received errors", _RECEIVED, receive_errors, Order.FALLBACK)
        for owner, name in (
            (_QUERY, "awaitTermination"),
            (_QUERY, "processAllAvailable"),
            (_QUERY, "exception"),
            (_QUERIES, "awaitAnyTermination"),
        )
    ),
)
