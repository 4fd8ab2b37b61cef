"""`doctor.<finding>` for queries, streams and views: the same work with the fix and without it.

The data is smaller than the thresholds of the findings: what is shown is the effect of each fix.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.registry import Sides, case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Figures = Mapping[str, float]


@dataclass(frozen=True)
class QueryGain:
    """Two spellings of one query, or one query with two settings.

    Attributes:
        sick: Returns the query, or figures if it has run itself; gets the session and an empty folder.
        healed: The query after the fix; None: the same one.
        settings: Settings of both sides.
        before: Settings of the sick side.
        after: Settings of the other side.
    """

    sick: Callable[[SparkSession, Path], DataFrame | Figures]
    healed: Callable[[SparkSession, Path], DataFrame | Figures] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)


_NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
_AQE = "spark.sql.adaptive"


def _skewed_join(spark: SparkSession, folder: Path) -> DataFrame:  # noqa: ARG001  # one signature for all
    return spark.sql(
        "SELECT sum(length(reverse(sha2(cast(a.id AS STRING), 512)))) AS s "
        "FROM (SELECT id, repeat('x', 40) AS t, if(id % 10 < 9, 0, id) AS k FROM range(3000000)) a "
        "JOIN (SELECT id AS k FROM range(300000)) b ON a.k = b.k"
    )


def _wide_rows(spark: SparkSession, count: int) -> DataFrame:
    return spark.sql(f"SELECT id, reverse(repeat(cast(id AS STRING), 12)) AS t FROM range({count})")


def _group(spark: SparkSession, folder: Path) -> DataFrame:  # noqa: ARG001
    return spark.sql("SELECT id % 1000 AS k, count(*) AS n FROM range(1000000) GROUP BY id % 1000")


def _row_udf(spark: SparkSession, folder: Path) -> DataFrame:  # noqa: ARG001
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    shout = F.udf(lambda text: text.upper(), StringType())
    return spark.range(300_000).select(shout(F.concat(F.lit("a"), "id")).alias("t"))


def _built_in(spark: SparkSession, folder: Path) -> DataFrame:  # noqa: ARG001
    from pyspark.sql import functions as F

    return spark.range(300_000).select(F.upper(F.concat(F.lit("a"), "id")).alias("t"))


_INTERVALS = (
    "FROM (SELECT id * 7 % 2000000 AS at FROM range(20000)) e "
    "JOIN (SELECT id * 100 AS low FROM range(20000)) r "
    "ON e.at >= r.low AND e.at < r.low + 100"
)


def _cartesian(spark: SparkSession, folder: Path) -> DataFrame:  # noqa: ARG001
    return spark.sql(f"SELECT count(*) AS n {_INTERVALS}")


def _bucketed(spark: SparkSession, folder: Path) -> DataFrame:  # noqa: ARG001
    return spark.sql(f"SELECT count(*) AS n {_INTERVALS} AND floor(e.at / 100) = floor(r.low / 100)")


def _large_with_small(spark: SparkSession, folder: Path) -> DataFrame:  # noqa: ARG001
    return spark.sql(
        "SELECT sum(a.id) AS s FROM (SELECT id, id % 1000 AS k, repeat('x', 30) AS t FROM range(3000000)) a "
        "JOIN (SELECT id AS k FROM range(1000)) b ON a.k = b.k WHERE length(t) > 1"
    )


def _large_with_large(hint: str) -> Callable[[SparkSession, Path], DataFrame]:
    text = (
        f"SELECT {hint} sum(a.id) AS s FROM (SELECT id, id % 2000000 AS k FROM range(2000000)) a "
        "JOIN (SELECT id AS k, repeat('x', 50) AS t FROM range(2000000)) b ON a.k = b.k WHERE length(t) > 1"
    )
    return lambda spark, folder: spark.sql(text)  # noqa: ARG005


def _files(spark: SparkSession, folder: Path) -> str:
    """The location of a table of 2 million rows, written once."""
    place = folder / "rows"
    if not place.exists():
        spark.sql("SELECT id, id % 4 AS kind, repeat('x', 20) AS t FROM range(2000000)").write.save(
            str(place)
        )
    return f"delta.`{place}`"


def _repeated_scan(spark: SparkSession, folder: Path) -> DataFrame:
    source = _files(spark, folder)
    parts = [f"SELECT {k} AS kind, sum(length(t) + id) AS s FROM {source} WHERE kind = {k}" for k in range(4)]
    return spark.sql(" UNION ALL ".join(parts))


def _one_scan(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.sql(f"SELECT kind, sum(length(t) + id) AS s FROM {_files(spark, folder)} GROUP BY kind")


def _stream(
    spark: SparkSession, folder: Path, texts: list[str], build: Callable[[DataFrame], DataFrame]
) -> Figures:
    """Run each text as the rows of one micro-batch through a query with state; return what it reports."""
    place = folder / "stream"
    shutil.rmtree(place, ignore_errors=True)
    total = late = 0
    progress: Any = None
    for text in texts:
        spark.sql(text).write.mode("append").save(str(place / "source"))
        frame = build(spark.readStream.format("delta").load(str(place / "source")))
        writer = frame.writeStream.format("delta").option("checkpointLocation", str(place / "checkpoint"))
        query = writer.trigger(availableNow=True).start(str(place / "target"))
        query.awaitTermination()
        for progress in query.recentProgress:
            late += sum(each["numRowsDroppedByWatermark"] for each in progress["stateOperators"])
            total = max([total, *(each["numRowsTotal"] for each in progress["stateOperators"])])
    return {"state_rows": total, "late_rows": late}


_DAYS = [
    f"SELECT id + {100_000 * day} AS id, "
    f"TIMESTAMP '2026-05-01' + make_dt_interval({day}, 0, 0, id % 86400) AS at FROM range(100000)"
    for day in range(5)
]
_LATE = [
    "SELECT id, TIMESTAMP '2026-05-02' + make_dt_interval(0, 0, 0, id) AS at FROM range(20000)",
    "SELECT id, TIMESTAMP '2026-05-01' + make_dt_interval(0, 20, 0, id) AS at FROM range(10000)",
]


def _deduplicated(delay: str | None, texts: list[str]) -> Callable[[SparkSession, Path], Figures]:
    def build(rows: DataFrame) -> DataFrame:
        if delay is None:
            return rows.dropDuplicates(["id"])
        return rows.withWatermark("at", delay).dropDuplicatesWithinWatermark(["id"])

    return lambda spark, folder: _stream(spark, folder, texts, build)


def _checkpoint(retained: str | None) -> Callable[[SparkSession, Path], Figures]:
    """Run a stream whose checkpoint has 2,000 micro-batches; return the files of the checkpoint."""

    def run(spark: SparkSession, folder: Path) -> Figures:
        place = folder / f"checkpoint-{retained}"
        source, checkpoint = str(place / "source"), place / "checkpoint"
        is_new = not place.exists()
        for _ in range(3 if is_new else 1):
            spark.range(10).write.mode("append").save(source)
            writer = spark.readStream.format("delta").load(source).writeStream.format("delta")
            writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
            writer.start(str(place / "target")).awaitTermination()
            if not (checkpoint / "offsets" / "1000").exists():
                for kind in ("offsets", "commits"):
                    first = (checkpoint / kind / "0").read_text()
                    for number in range(1, 1001):
                        (checkpoint / kind / str(number)).write_text(first)
        kinds = (checkpoint / "offsets", checkpoint / "commits")
        return {"files": sum(len([each for each in kind.iterdir() if each.name.isdigit()]) for kind in kinds)}

    return run


def _view(window: str) -> Callable[[SparkSession, Path], Figures]:
    """Append rows to a table of 5 million, and refresh a materialized view on it."""

    def run(spark: SparkSession, folder: Path) -> Figures:
        import lakeward.session as lw
        from lakeward import pipelines

        name = "ranked" if "PARTITION" in window else "recomputed"
        source, file = f"main.{name}.source", folder / f"{name}.sql"
        rows = "SELECT id, date_add(DATE'2026-01-01', CAST(id / 10000 AS INT)) AS day"
        if file.exists():
            start = spark.table(source).count()
            spark.sql(f"INSERT INTO {source} {rows} FROM range({start}, {start + 1000})")
        else:
            lw.ensure_schema(spark, "main", name)
            spark.sql(f"CREATE TABLE {source} AS {rows} FROM range(5000000)")
            query = f"SELECT id, day, rank() OVER ({window}) AS place FROM {source}"
            file.write_text(f"CREATE MATERIALIZED VIEW {name} AS {query};")
        done = pipelines.run(
            [file],
            pipelines.UpdateOptions(name=name, schema=name, storage=folder / "storage" / name),
            session=spark,
        )
        if done.state != "COMPLETED":
            raise RuntimeError(done.error)
        return {"rows_written": sum(each.rows_written or 0 for each in done.datasets)}

    return run


QUERY_GAINS: dict[str, QueryGain] = {
    "data-skew": QueryGain(
        _skewed_join,
        settings={
            **_NO_BROADCAST,
            "spark.sql.shuffle.partitions": "8",
            f"{_AQE}.advisoryPartitionSizeInBytes": "4MB",
            f"{_AQE}.skewJoin.skewedPartitionThresholdInBytes": "4MB",
        },
        before={f"{_AQE}.skewJoin.enabled": "false"},
        after={f"{_AQE}.skewJoin.enabled": "true"},
    ),
    # More than the memory of one task, and less in sixteen parts.
    "spill": QueryGain(
        lambda spark, _: _wide_rows(spark, 20_000_000).repartition(1).sortWithinPartitions("t"),
        lambda spark, _: _wide_rows(spark, 20_000_000).repartition(16).sortWithinPartitions("t"),
    ),
    "shuffle-partitions": QueryGain(
        _group,
        settings={"spark.sql.shuffle.partitions": "400"},
        before={f"{_AQE}.coalescePartitions.enabled": "false"},
        after={f"{_AQE}.coalescePartitions.enabled": "true"},
    ),
    "row-udf": QueryGain(_row_udf, _built_in),
    "cartesian-join": QueryGain(_cartesian, _bucketed),
    "missed-broadcast": QueryGain(
        _large_with_small,
        before=_NO_BROADCAST,
        after={"spark.sql.autoBroadcastJoinThreshold": "10MB"},
    ),
    "wrong-broadcast": QueryGain(_large_with_large("/*+ BROADCAST(b) */"), _large_with_large("")),
    "repeated-scan": QueryGain(_repeated_scan, _one_scan),
    "aqe-off": QueryGain(
        _group,
        settings={"spark.sql.shuffle.partitions": "200"},
        before={f"{_AQE}.enabled": "false"},
        after={f"{_AQE}.enabled": "true"},
    ),
    "late-rows": QueryGain(_deduplicated("1 hour", _LATE), _deduplicated("1 day", _LATE)),
    "state-growth": QueryGain(_deduplicated(None, _DAYS), _deduplicated("1 day", _DAYS)),
    "full-recompute": QueryGain(_view("ORDER BY id"), _view("PARTITION BY day ORDER BY id")),
    "checkpoint-growth": QueryGain(
        _checkpoint("1000"),
        _checkpoint("100"),
        before={"spark.sql.streaming.minBatchesToRetain": "10000"},
        after={"spark.sql.streaming.minBatchesToRetain": "100"},
    ),
}


def _spilled(spark: SparkSession, tag: str) -> int:
    """Return the bytes that the operators of the queries with a job tag have spilled."""
    session: Any = spark
    operators = session._jvm.lakeward.OperatorTimes.slowest(session._jsparkSession, tag, 100)
    return sum(each.get("spilled_bytes", 0) for each in json.loads(operators))


def _register(finding: str, gain: QueryGain) -> None:
    @case("doctor." + finding.replace("-", "_"))
    @contextmanager
    def measured(folder: Path) -> Iterator[Sides]:
        import lakeward.session as lw

        spark = lw.session(lw.Settings.here(folder / "state", environ={}))
        figures: dict[str, float] = {}
        runs = itertools.count()

        def work(
            query: Callable[[SparkSession, Path], DataFrame | Figures],
            settings: Mapping[str, str],
            suffix: str,
        ) -> None:
            changed = {**gain.settings, **settings}
            old = {name: spark.conf.get(name, None) for name in changed}
            tag = f"{finding}-{suffix}-{next(runs)}"
            spark.sparkContext.setLocalProperty("spark.job.tags", tag)
            for name, value in changed.items():
                spark.conf.set(name, value)
            try:
                result = query(spark, folder)
                if isinstance(result, Mapping):
                    figures.update({f"{name}_{suffix}": value for name, value in result.items()})
                else:
                    result.write.format("noop").mode("overwrite").save()
                    figures[f"spilled_mb_{suffix}"] = _spilled(spark, tag) / 2**20
            finally:
                for name, earlier in old.items():
                    spark.conf.unset(name) if earlier is None else spark.conf.set(name, earlier)

        yield Sides(
            lambda: work(gain.healed or gain.sick, gain.after, "after"),
            lambda: work(gain.sick, gain.before, "before"),
            figures=lambda: figures,
        )


for _finding, _gain in QUERY_GAINS.items():
    _register(_finding, _gain)
