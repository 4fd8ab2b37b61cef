"""Load history in CLONE and VACUUM (AL-8.16).

A deep clone copies the load history of the cloned version. VACUUM removes segments that no load will read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.copy_into.delta_target import DeltaTarget, HistoryStore, find_target
from lakeward.copy_into.load_history import (
    APP_ID,
    LoadHistory,
    append_segment,
    new_segment_number,
    read_history,
)
from lakeward.errors import SqlError
from lakeward.quoting import quote_string
from lakeward.spark_internals import jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def clone_history(
    spark: SparkSession,
    *,
    source: Sequence[str],
    target: Sequence[str],
    version: int | None,
    timestamp: str | None,
) -> Iterator[dict[str, str]]:
    """Yield the options of the write that creates the clone; then the clone has the history.

    An existing target gets the new segment before the commit that references it. A new target gets it
    afterwards, because its directory must be empty until then.

    Args:
        spark: The session.
        source: Name parts of the cloned table.
        target: Name parts of the clone.
        version: Source version, None for the latest.
        timestamp: Source timestamp, an alternative to `version`.
    """
    keys = _source_history(spark, find_target(spark, source), version, timestamp).keys
    before = _find_existing(spark, target)
    number = -1 if before is None else before.begin(spark).txnVersion(APP_ID)
    if not keys and number < 0:
        yield {}
        return
    number = new_segment_number(number)
    if before is not None:
        append_segment(HistoryStore(spark, before.log), LoadHistory(), number, sorted(keys))
    yield {"txnAppId": APP_ID, "txnVersion": str(number)}
    if before is None:
        append_segment(
            HistoryStore(spark, find_target(spark, target).log), LoadHistory(), number, sorted(keys)
        )


def _find_existing(spark: SparkSession, name: Sequence[str]) -> DeltaTarget | None:
    try:
        return find_target(spark, name)
    except SqlError:
        return None


def _source_history(
    spark: SparkSession, source: DeltaTarget, version: int | None, timestamp: str | None
) -> LoadHistory:
    if timestamp is not None:
        past = spark.sql(f"DESCRIBE HISTORY {source.display_name}").where(
            f"timestamp <= {quote_string(timestamp)}"
        )
        version = past.agg({"version": "max"}).first()[0]  # type: ignore[index]  # an aggregate has a row
    if version is None:
        return read_history(HistoryStore(spark, source.log), source.begin(spark).txnVersion(APP_ID))
    jvm: Any = jvm_view(spark)
    nothing = jvm.scala.Option.empty()
    snapshot = source.log.getSnapshotAt(version, nothing, nothing, False)
    segment = snapshot.transactions().get(APP_ID)
    return read_history(HistoryStore(spark, source.log), int(segment.get()) if segment.isDefined() else -1)


_RETENTION_HOURS = 7 * 24.0
# A load writes its segment before it commits, so recent segments may belong to a running load.
_MIN_RETENTION_HOURS = 1.0


def vacuum_history(spark: SparkSession, *, table: Sequence[str], hours: float | None) -> None:
    """Remove segments that the latest version does not reference and that are older than `hours`.

    None means seven days. Tables that COPY INTO cannot load are ignored.
    """
    try:
        target = find_target(spark, table)
    except SqlError:
        return
    store = HistoryStore(spark, target.log)
    written = store.written()
    if not written:
        return
    history = read_history(store, target.begin(spark).txnVersion(APP_ID))
    kept = {segment.number for segment in history.segments}
    until = time.time() - 3600 * max(_RETENTION_HOURS if hours is None else hours, _MIN_RETENTION_HOURS)
    for number, when in written.items():
        if number not in kept and when < until:
            store.remove(number)
