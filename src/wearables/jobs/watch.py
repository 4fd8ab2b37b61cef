"""Entry point `watch`: fails when data are late, so that the job's notification reaches someone."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

__all__ = ["LagError", "lags", "main"]

_FEEDS = {"daily": "bronze", "registrations": "registrations", "gym_logs": "gym_logs"}
_HOUR = 3600.0
# An archive without content has 20 bytes; erasure empties files whose lines are all of one person.
_EMPTY = 20


class LagError(Exception):
    """Data are late; the message has a sentence for each place where they wait."""


def main(argv: Sequence[str] | None = None) -> None:
    """Look at the place that the arguments name (`sys.argv` when None).

    Raises LagError when data are late.
    """
    parser = argparse.ArgumentParser(prog="watch", description=__doc__)
    for name in ("catalog", "schema", "landing"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--hours", type=float, default=26.0, help="how long a file may wait, or a stream")
    given, _ = parser.parse_known_args(argv)
    spark, place = SparkSession.builder.getOrCreate(), f"`{given.catalog}`.`{given.schema}`"
    late = list(lags(spark, place, Path(given.landing), given.hours * _HOUR, time.time()))
    if late:
        raise LagError("; ".join(late))
    print(f"nothing waits longer than {given.hours:g} hours in {given.catalog}.{given.schema}")


def lags(spark: SparkSession, schema: str, landing: Path, limit: float, now: float) -> Iterator[str]:
    """Yield a sentence for each place where data wait longer than allowed.

    Args:
        spark: The session with the lakehouse.
        schema: The schema of the tables.
        landing: The folder of the landing volume.
        limit: How many seconds a landed file may wait for its rows, and rows of bronze for the streams.
        now: The time, in seconds since 1970.
    """
    for feed, table in _FEEDS.items():
        old = {
            file.name: now - file.stat().st_mtime
            for file in _files(landing / feed)
            if file.stat().st_size > _EMPTY
        }
        read = _names(spark, f"{schema}.{table}")
        waiting = {name: age for name, age in old.items() if name not in read and age > limit}
        if waiting:
            name, age = max(waiting.items(), key=lambda each: each[1])
            yield f"{len(waiting)} files of {feed} wait, {name} for {age / _HOUR:.1f} hours: see the pipeline"
    yield from _behind(spark, schema, limit)


def _behind(spark: SparkSession, schema: str, limit: float) -> Iterator[str]:
    """Compare the newest batch of each stream with the newest commit of bronze; no streams, no lag."""
    progress = f"{schema}.stream_progress"
    if not (spark.catalog.tableExists(progress) and spark.catalog.tableExists(f"{schema}.bronze")):
        return
    history = spark.sql(f"DESCRIBE HISTORY {schema}.bronze").filter("operation LIKE 'STREAMING%'")
    newest = history.agg(F.max("timestamp")).collect()[0][0]
    if newest is None:
        return
    for row in (
        spark.table(progress).groupBy("query").agg(F.max("finished").alias("at")).orderBy("query").collect()
    ):
        behind = _seconds(newest) - _seconds(row["at"])
        if behind > limit:
            hours = behind / _HOUR
            yield f"the stream {row['query']} is {hours:.1f} hours behind bronze: see the job streams"


def _seconds(moment: datetime) -> float:
    return moment.astimezone(timezone.utc).timestamp()


def _files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*.json*"):
        if not file.name.startswith((".", "_")):
            yield file


def _names(spark: SparkSession, table: str) -> set[str]:
    if not spark.catalog.tableExists(table):
        return set()
    return {row[0] for row in spark.table(table).select("source_file").distinct().collect()}


if __name__ == "__main__":
    main()
