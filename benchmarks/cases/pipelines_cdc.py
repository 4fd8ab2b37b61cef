"""AUTO CDC against what people write by hand."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.registry import Sides, case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS = EVENTS = 1_000_000
STEADY_KEYS = int(os.environ.get("LAKEWARD_CDC_KEYS", "5000000"))
STEADY_BATCH = 20_000
STEADY_BATCHES = 10
BATCHES = 10
COLUMNS = (
    "CAST({key} AS BIGINT) AS id",
    "CAST({seq} AS BIGINT) AS seq",
    "false AS gone",
    "concat('name ', {seq} % 1009) AS name",
    "CAST({seq} % 89 AS INT) AS age",
    "concat('city ', {key} % 353) AS city",
)
SOURCE = '''"""One target; the first load is a flow that runs once."""

from pyspark import pipelines as dp
from pyspark.sql import SparkSession

spark = SparkSession.getActiveSession()
common = dict(
    target="customers", keys=["id"], sequence_by="seq", apply_as_deletes="gone",
    except_column_list=["gone"], stored_as_scd_type={scd_type},
)
dp.create_streaming_table("customers")
if {first}:
    dp.create_auto_cdc_flow(name="first", source="main.bench.first", once=True, **common)
if spark.conf.get("bench.feed", "") == "on":

    @dp.temporary_view
    def feed():
        return spark.readStream.option("maxFilesPerTrigger", 1).table("main.bench.events")

    dp.create_auto_cdc_flow(name="feed", source="feed", **common)
'''


@case("pipelines.scd1_upsert", goal=1.2, warmups=0)
@contextmanager
def scd1_upsert(folder: Path) -> Iterator[Sides]:
    """A million updates of a million keys, in ten batches, in one warm session.

    The peer is a window and a MERGE in foreachBatch; what comes late in a later batch it gets wrong.
    """
    yield from _first_type(folder, key=f"id * 7919 % {KEYS}", rows=KEYS)


@case("pipelines.scd1_insert", goal=0.7, warmups=0)
@contextmanager
def scd1_insert(folder: Path) -> Iterator[Sides]:
    """The same with new keys only."""
    yield from _first_type(folder, key=f"{KEYS} + id", rows=KEYS + EVENTS)


@case("pipelines.scd2", goal=0.5, warmups=0)
@contextmanager
def scd2(folder: Path) -> Iterator[Sides]:
    """A million events of a hundred thousand keys in ten batches, every tenth of them late.

    The peer computes the whole history anew from all events so far after each batch.
    """
    spark = _session(folder)
    late = f"id - IF(id % 10 = 0, {EVENTS // 5}, 0)"
    _events(spark, key="id * 7919 % 100000", seq=late)
    lanes = _Lanes(spark, folder, scd_type=2, first=False)

    def recompute(spark: SparkSession, target: str) -> Callable[[Any, int], None]:
        def batch(frame: Any, _: int) -> None:
            frame.write.mode("append").saveAsTable(f"{target}_events")
            spark.sql(f"CREATE OR REPLACE TABLE {target} AS {_HISTORY.format(events=f'{target}_events')}")

        return batch

    wanted = spark.sql(_HISTORY.format(events="main.bench.events")).count()

    def check(table: str) -> None:
        tell_files(spark, table)
        found = spark.table(table).count()
        if found != wanted:
            raise AssertionError(f"{table} holds {found} rows; {wanted} were expected")

    yield Sides(lanes.ours, lambda: lanes.peer(recompute), prepare=lanes.prepare, check=check)


_HISTORY = """
SELECT id, seq, name, age, city, seq AS __START_AT, lead(seq) OVER (PARTITION BY id ORDER BY seq) AS __END_AT
FROM (SELECT *, row_number() OVER (PARTITION BY id, seq ORDER BY name) AS nth FROM {events}) WHERE nth = 1
"""


_MERGE = """
MERGE INTO {target} t USING (
  SELECT * EXCEPT (nth) FROM (
    SELECT *, row_number() OVER (PARTITION BY id ORDER BY seq DESC) AS nth FROM lane_batch
  ) WHERE nth = 1
) s ON t.id = s.id
WHEN MATCHED AND s.gone THEN DELETE
WHEN MATCHED THEN UPDATE SET seq = s.seq, name = s.name, age = s.age, city = s.city
WHEN NOT MATCHED AND NOT s.gone THEN
  INSERT (id, seq, name, age, city) VALUES (s.id, s.seq, s.name, s.age, s.city)
"""


_STAGED_HISTORY = """
MERGE INTO {target} t USING (
  WITH latest AS (
    SELECT * EXCEPT (nth) FROM (
      SELECT *, row_number() OVER (PARTITION BY id ORDER BY seq DESC) AS nth FROM lane_batch
    ) WHERE nth = 1
  )
  SELECT id AS merge_key, * FROM latest
  UNION ALL
  SELECT NULL AS merge_key, l.* FROM latest l JOIN {target} o ON l.id = o.id
  WHERE o.__END_AT IS NULL AND NOT l.gone
) s ON t.id = s.merge_key AND t.__END_AT IS NULL
WHEN MATCHED THEN UPDATE SET __END_AT = s.seq
WHEN NOT MATCHED AND NOT s.gone THEN
  INSERT (id, seq, name, age, city, __START_AT, __END_AT)
  VALUES (s.id, s.seq, s.name, s.age, s.city, s.seq, NULL)
"""


@case("cdc.scd1_steady", goal=1.0, warmups=0)
@contextmanager
def scd1_steady(folder: Path) -> Iterator[Sides]:
    """Small batches for a large target: 5 percent of the events are late, 2 percent delete.

    The peer is the MERGE of the documentation in foreachBatch. It gets late events wrong, so only row counts
    within the late share are compared.
    """
    yield from _steady(folder, scd_type=1, merge=_MERGE)


@case("cdc.scd2_steady", goal=1.0, warmups=0)
@contextmanager
def scd2_steady(folder: Path) -> Iterator[Sides]:
    """The same with history. The peer is the staged MERGE of the documentation."""
    yield from _steady(folder, scd_type=2, merge=_STAGED_HISTORY)


def _steady(folder: Path, *, scd_type: int, merge: str) -> Iterator[Sides]:
    spark = _session(folder)
    spark.range(STEADY_KEYS).selectExpr(*_columns("id", "0")).write.saveAsTable("main.bench.first")
    size = STEADY_BATCH
    # Late events are older than the whole batch before.
    late = f"id + {10 * size} - IF(id % 20 = 0, {2 * size}, 0)"
    gone = "id % 50 = 0 AS gone"
    _events(spark, key=f"id * 7919 % {STEADY_KEYS}", seq=late, gone=gone, size=size, batches=STEADY_BATCHES)
    lanes = _Lanes(spark, folder, scd_type=scd_type, first=True)

    def merge_batches(_: SparkSession, target: str) -> Callable[[Any, int], None]:
        def batch(frame: Any, _: int) -> None:
            frame.createOrReplaceTempView("lane_batch")
            frame.sparkSession.sql(merge.format(target=target))

        return batch

    def check(table: str) -> None:
        tell_files(spark, table)
        found = spark.table(table).where("__END_AT IS NULL" if scd_type == 2 else "true").count()
        deletes = size * STEADY_BATCHES // 50
        if not STEADY_KEYS - deletes <= found <= STEADY_KEYS:
            raise AssertionError(f"{table} has {found} current rows of {STEADY_KEYS} keys")

    yield Sides(lanes.ours, lambda: lanes.peer(merge_batches), prepare=lanes.prepare, check=check)


def _first_type(folder: Path, *, key: str, rows: int) -> Iterator[Sides]:
    spark = _session(folder)
    spark.range(KEYS).selectExpr(*_columns("id", "0")).write.saveAsTable("main.bench.first")
    _events(spark, key=key, seq="id + 1")
    lanes = _Lanes(spark, folder, scd_type=1, first=True)

    def merge(_: SparkSession, target: str) -> Callable[[Any, int], None]:
        def batch(frame: Any, _: int) -> None:
            frame.createOrReplaceTempView("lane_batch")
            frame.sparkSession.sql(_MERGE.format(target=target))

        return batch

    def check(table: str) -> None:
        tell_files(spark, table)
        found = spark.table(table).selectExpr("count(*)", "max(seq)").collect()[0]
        if tuple(found) != (rows, EVENTS):
            raise AssertionError(f"{table} holds {found}; {rows} rows up to {EVENTS} were expected")

    yield Sides(lanes.ours, lambda: lanes.peer(merge), prepare=lanes.prepare, check=check)


def tell_files(spark: SparkSession, table: str) -> None:
    """Print on stderr what all commits together wrote and rewrote."""
    metrics = [row[0] for row in spark.sql(f"DESCRIBE HISTORY {table}").select("operationMetrics").collect()]

    def total(*names: str) -> int:
        return sum(int(each.get(name, 0)) for each in metrics for name in names)

    rewritten = total("numTargetFilesRemoved", "numRemovedFiles")
    megabytes = total("numTargetBytesAdded", "numOutputBytes") / 1e6
    print(
        f"{table}: files_rewritten={rewritten} megabytes_written={megabytes:.1f}", file=sys.stderr, flush=True
    )


def _session(folder: Path) -> SparkSession:
    import lakeward.session as lw

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    lw.ensure_schema(spark, "main", "bench")
    return spark


def _columns(key: str, seq: str) -> list[str]:
    return [column.format(key=key, seq=seq) for column in COLUMNS]


def _events(
    spark: SparkSession,
    *,
    key: str,
    seq: str,
    gone: str = "false AS gone",
    size: int = EVENTS // BATCHES,
    batches: int = BATCHES,
) -> None:
    """Write one file per batch, in this order."""
    empty = spark.range(0).selectExpr(*_columns("id", "id"))
    empty.write.saveAsTable("main.bench.events")
    for n in range(batches):
        rows = spark.range(n * size, (n + 1) * size, 1, 1).selectExpr(f"({key}) AS k", f"({seq}) AS s", gone)
        rows.selectExpr(*[c if "gone" not in c else "gone" for c in _columns("k", "s")]).write.mode(
            "append"
        ).saveAsTable("main.bench.events")


class _Lanes:
    """A fresh target for each call of a side, with the first load in it."""

    def __init__(self, spark: SparkSession, folder: Path, *, scd_type: int, first: bool) -> None:
        self._spark, self._folder, self._numbers = spark, folder, count()
        self._first, self._scd_type = first, scd_type
        self._file = folder / "cdc.py"
        self._file.write_text(SOURCE.format(scd_type=scd_type, first=first))
        self._ours = self._peer = ""

    def prepare(self) -> None:
        if not self._ours:
            self._ours = f"ours{next(self._numbers)}"
            if self._first:
                self._update("off")
        if not self._peer:
            self._peer = f"main.bench.peer{next(self._numbers)}"
            rows = self._spark.table("main.bench.first" if self._first else "main.bench.events")
            rows = rows.select("id", "seq", "name", "age", "city")
            if self._scd_type == 2 and self._first:
                rows = rows.selectExpr("*", "seq AS __START_AT", "CAST(NULL AS BIGINT) AS __END_AT")
            (rows if self._first else rows.limit(0)).write.saveAsTable(self._peer)

    def ours(self) -> str:
        self._update("on")
        schema, self._ours = self._ours, ""
        return f"main.{schema}.customers"

    def peer(self, batches: Callable[[SparkSession, str], Callable[[Any, int], None]]) -> str:
        stream = self._spark.readStream.option("maxFilesPerTrigger", 1).table("main.bench.events")
        query = stream.writeStream.foreachBatch(batches(self._spark, self._peer))
        place = self._folder / "checkpoints" / self._peer
        query.option("checkpointLocation", str(place)).trigger(availableNow=True).start().awaitTermination()
        target, self._peer = self._peer, ""
        return target

    def _update(self, feed: str) -> None:
        from lakeward import pipelines

        update = pipelines.run(
            [self._file],
            pipelines.UpdateOptions(
                name=self._ours,
                schema=self._ours,
                storage=self._folder / "storage" / self._ours,
                configuration={"bench.feed": feed},
            ),
            session=self._spark,
        )
        if update.state != "COMPLETED":
            raise RuntimeError(update.error)
