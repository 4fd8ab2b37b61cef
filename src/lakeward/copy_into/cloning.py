"""A deep clone carries the load history of the version that it copies (auto-loader.md §8 rule 16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.copy_into.history import APP, History, append, new_number, read
from lakeward.copy_into.target import LogFolder, Target, target_of
from lakeward.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["cloned"]


@contextmanager
def cloned(
    spark: SparkSession,
    *,
    source: Sequence[str],
    target: Sequence[str],
    version: int | None,
    timestamp: str | None,
) -> Iterator[dict[str, str]]:
    """The options of the write that makes the clone; the table named in them has the history at the end.

    A table that is there gets its new history before the commit that names it. One that is new gets it right
    after: its folder must be empty until then.
    """
    keys = _history(spark, target_of(spark, source), version, timestamp).keys
    before = _existing(spark, target)
    number = -1 if before is None else before.begin(spark).txnVersion(APP)
    if not keys and number < 0:
        yield {}
        return
    number = new_number(number)
    if before is not None:
        append(LogFolder(spark, before.log), History(), number, sorted(keys))
    yield {"txnAppId": APP, "txnVersion": str(number)}
    if before is None:
        append(LogFolder(spark, target_of(spark, target).log), History(), number, sorted(keys))


def _existing(spark: SparkSession, name: Sequence[str]) -> Target | None:
    try:
        return target_of(spark, name)
    except SqlError:
        return None


def _history(spark: SparkSession, source: Target, version: int | None, timestamp: str | None) -> History:
    if timestamp is not None:
        past = spark.sql(f"DESCRIBE HISTORY {source.shown}").where(f"timestamp <= '{timestamp}'")
        version = past.agg({"version": "max"}).first()[0]  # type: ignore[index]  # an aggregate has a row
    if version is None:
        return read(LogFolder(spark, source.log), source.begin(spark).txnVersion(APP))
    jvm: Any = spark._jvm
    nothing = jvm.scala.Option.empty()
    snapshot = source.log.getSnapshotAt(version, nothing, nothing, False)  # Scala has no names for it here
    found = snapshot.transactions().get(APP)
    return read(LogFolder(spark, source.log), int(found.get()) if found.isDefined() else -1)
