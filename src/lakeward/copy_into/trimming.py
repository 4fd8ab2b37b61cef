"""VACUUM removes the segments of the load history that no load will read again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakeward.copy_into.history import APP, read
from lakeward.copy_into.target import LogFolder, target_of
from lakeward.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["trimmed"]

_RETAINED = 7 * 24.0
# A load writes its segment before it commits: younger ones may be about to be named, whatever RETAIN says.
_LOADING = 1.0


def trimmed(
    spark: SparkSession, *, table: Sequence[str], hours: float | None, now: float | None = None
) -> None:
    """Remove what the newest version does not name and what is older than `hours`."""
    try:
        target = target_of(spark, table)
    except SqlError:
        return
    store = LogFolder(spark, target.log)
    written = store.written()
    if not written:
        return
    history = read(store, target.begin(spark).txnVersion(APP))
    kept = {segment.number for segment in history.segments}
    until = (time.time() if now is None else now) - 3600 * max(
        _RETAINED if hours is None else hours, _LOADING
    )
    for number, when in written.items():
        if number not in kept and when < until:
            store.remove(number)
