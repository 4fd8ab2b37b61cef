"""Runs the queries on what is available, one after another, and records their progress."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from wearables.streams import progress, queries
from wearables.streams.progress import ProgressListener
from wearables.topics import EVENTS, Topic

__all__ = ["TABLES", "Streams", "reset"]

_WINDOW = (
    "device_id BIGINT, start TIMESTAMP, `end` TIMESTAMP, rates BIGINT, total DECIMAL(19, 3), "
    "lowest DECIMAL(9, 3), highest DECIMAL(9, 3)"
)

TABLES = {
    "heart_rate_stream": "device_id BIGINT, time TIMESTAMP, heartrate DOUBLE",
    "heart_rate_stream_late": "device_id BIGINT, time TIMESTAMP, heartrate DOUBLE, found TIMESTAMP",
    "workouts_stream": "user_id BIGINT, workout_id BIGINT, time TIMESTAMP, action STRING, session_id BIGINT",
    "workouts_stream_late": (
        "user_id BIGINT, workout_id BIGINT, time TIMESTAMP, action STRING, session_id BIGINT, found TIMESTAMP"
    ),
    "heart_rate_minutes": _WINDOW,
    "heart_rate_sliding": _WINDOW,
    "heart_rate_sittings": _WINDOW,
    "heart_rate_zones": "device_id BIGINT, zone INT, count BIGINT",
    "workout_rates": (
        "user_id BIGINT, session_id BIGINT, device_id BIGINT, start_time TIMESTAMP, time TIMESTAMP, "
        "heartrate DOUBLE"
    ),
    "wearers": "device_id BIGINT, user_id BIGINT",
    "heart_rate_wearers": (
        "device_id BIGINT, time TIMESTAMP, heartrate DOUBLE, user_id BIGINT, "
        "lookup_version BIGINT COMMENT 'version of wearers by which user_id was found, or was not'"
    ),
    "stream_progress": progress.COLUMNS,
}
"""The tables that the streams keep, with their columns; all can be computed from bronze."""

_ROLLING = """
CREATE OR REPLACE VIEW {schema}.heart_rate_rolling AS
SELECT device_id, time, heartrate, avg(heartrate) OVER (
  PARTITION BY device_id ORDER BY time RANGE BETWEEN INTERVAL 1 MINUTE PRECEDING AND CURRENT ROW
) AS last_minute
FROM {schema}.heart_rate_stream
"""


@dataclass(frozen=True)
class Streams:
    """The streams that read the tables of `schema`; their checkpoints are below `checkpoints`."""

    spark: SparkSession
    schema: str
    checkpoints: str
    listener: ProgressListener = field(default_factory=ProgressListener)

    def run(self) -> dict[str, int]:
        """Process what is available; returns the number of late rows by topic."""
        with self._progress():
            return self._pass()

    @contextmanager
    def _progress(self) -> Iterator[None]:
        """Listen to queries; their batches are in `stream_progress` afterwards, also if one failed."""
        self.spark.streams.addListener(self.listener)
        try:
            yield
        finally:
            self.spark.streams.removeListener(self.listener)
            self.listener.write(self.spark, f"{self.schema}.stream_progress")

    def _pass(self) -> dict[str, int]:
        for name, columns in TABLES.items():
            self.spark.sql(
                f"CREATE TABLE IF NOT EXISTS {self.schema}.{name} ({columns}) "
                "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
            )
        late = {topic.name: self.deduplicate(topic) for topic in EVENTS}
        rates = self._stream("heart_rate_stream")
        self._append("heart_rate_minutes", queries.minutes(rates))
        self._append("heart_rate_sittings", queries.sittings(rates))
        self._merge("heart_rate_sliding", queries.sliding(rates), ("device_id", "start"), update=True)
        self._write("heart_rate_zones", queries.zones(rates), mode="complete")
        self.note_wearers()
        starts = self._stream("workouts_stream").filter("action = 'start'")
        worn = starts.withColumnRenamed("time", "start_time").join(self._table("wearers"), "user_id")
        self._append("workout_rates", queries.with_rates(worn, rates))
        self._find_wearers(rates)
        self.repair_wearers()
        self.spark.sql(_ROLLING.format(schema=self.schema))
        return late

    def deduplicate(self, topic: Topic) -> int:
        """Append each new event of `topic` once; returns how many arrived behind the watermark.

        Two guards: the stream's state drops repeats within the horizon, the insert-only MERGE those that
        a restart delivers again. What the watermark dropped is found by comparing the keys with bronze; it is
        listed and inserted.
        """
        target = f"{topic.target}_stream"
        valid = queries.events(self._stream("bronze"), topic)
        unique = valid.withWatermark("time", queries.HORIZON).dropDuplicates(list(topic.key))
        self._merge(target, unique, topic.key)
        everything = queries.events(self._table("bronze"), topic).dropDuplicates(list(topic.key))
        known = self._table(target).select(*topic.key)
        same = [everything[name].eqNullSafe(known[name]) for name in topic.key]
        late = everything.join(known, same, "left_anti")
        if late.isEmpty():
            return 0
        # Listed first: after a crash the next run inserts what is listed.
        listed = _insert_new(late.withColumn("found", F.now()), f"{self.schema}.{target}_late", topic.key)
        _insert_new(self._table(f"{target}_late").drop("found"), f"{self.schema}.{target}", topic.key)
        return listed

    def note_wearers(self) -> None:
        """Add devices that were registered since; who registered a device first is its wearer."""
        registered = self._table("registered_users").filter("device_id IS NOT NULL")
        first = registered.groupBy("device_id").agg(
            F.min_by("user_id", "registration_timestamp").alias("user_id")
        )
        _insert_new(first, f"{self.schema}.wearers", ("device_id",))

    def _find_wearers(self, rates: DataFrame) -> None:
        """Join each heart rate to one version of the lookup, which the row records."""
        name, lookup = "heart_rate_wearers", f"{self.schema}.wearers"

        def write(batch: DataFrame, _number: int) -> None:
            version = _version(batch.sparkSession, lookup)
            wearers = batch.sparkSession.read.option("versionAsOf", version).table(lookup)
            found = batch.join(wearers, "device_id", "left").withColumn("lookup_version", F.lit(version))
            _insert_new(found, f"{self.schema}.{name}", ("device_id", "time"))

        self._for_each_batch(name, rates, write)

    def repair_wearers(self) -> int:
        """Complete rows whose device was registered after they were joined; returns how many."""
        lookup, name = f"{self.schema}.wearers", f"{self.schema}.heart_rate_wearers"
        version = _version(self.spark, lookup)
        wearers = self.spark.read.option("versionAsOf", version).table(lookup).alias("w")
        rows = DeltaTable.forName(self.spark, name).alias("r")
        changed: dict[str, str | Column] = {"user_id": "w.user_id", "lookup_version": F.lit(version)}
        missing = "r.device_id = w.device_id AND r.user_id IS NULL"
        done = rows.merge(wearers, missing).whenMatchedUpdate(set=changed).execute()
        return int(done.collect()[0]["num_updated_rows"])

    def _table(self, name: str) -> DataFrame:
        return self.spark.read.table(f"{self.schema}.{name}")

    def _stream(self, name: str) -> DataFrame:
        # Erasure deletes rows; the streams start over then, see `reset`.
        reader = self.spark.readStream.option("skipChangeCommits", "true")
        return reader.table(f"{self.schema}.{name}")

    def _append(self, name: str, frame: DataFrame) -> None:
        self._write(name, frame, mode="append")

    def _write(self, name: str, frame: DataFrame, *, mode: str) -> None:
        writer = frame.writeStream.queryName(name).outputMode(mode).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{self.checkpoints}/{name}")
        self._finish(writer.toTable(f"{self.schema}.{name}"))

    def _merge(self, name: str, frame: DataFrame, keys: Sequence[str], *, update: bool = False) -> None:
        target = f"{self.schema}.{name}"

        def write(batch: DataFrame, _number: int) -> None:
            _insert_new(batch, target, keys, update=update)

        self._for_each_batch(name, frame, write, mode="update" if update else "append")

    def _for_each_batch(
        self, name: str, frame: DataFrame, write: Callable[[DataFrame, int], None], *, mode: str = "append"
    ) -> None:
        writer = frame.writeStream.foreachBatch(write).queryName(name).outputMode(mode)
        writer = writer.trigger(availableNow=True)
        self._finish(writer.option("checkpointLocation", f"{self.checkpoints}/{name}").start())

    def _finish(self, query: StreamingQuery) -> None:
        query.awaitTermination()
        self.listener.await_events(query)


def _insert_new(rows: DataFrame, table: str, keys: Sequence[str], *, update: bool = False) -> int:
    """Insert the rows whose `keys` the table lacks, and with `update` replace the others; repeatable.

    Returns the number of rows that were inserted.
    """
    same = " AND ".join(f"t.`{key}` <=> n.`{key}`" for key in keys)
    merge = DeltaTable.forName(rows.sparkSession, table).alias("t").merge(rows.alias("n"), same)
    if update:
        merge = merge.whenMatchedUpdateAll()
    return int(merge.whenNotMatchedInsertAll().execute().collect()[0]["num_inserted_rows"])


def _version(spark: SparkSession, table: str) -> int:
    return int(spark.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0]["version"])


def reset(spark: SparkSession, schema: str, checkpoints: str) -> None:
    """Let all streams start over: their tables are emptied and their state is deleted.

    After an erasure: state stores keep values for as long as the horizon. Tables first: streams without
    checkpoints would process everything into full tables, and the MERGE would keep what is there.
    """
    for name in TABLES:
        if spark.catalog.tableExists(f"{schema}.{name}"):
            spark.sql(f"TRUNCATE TABLE {schema}.{name}")
    shutil.rmtree(Path(checkpoints), ignore_errors=True)
