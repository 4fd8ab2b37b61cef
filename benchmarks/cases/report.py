"""Reports: what collecting their data costs an update, and writing the report of a large pipeline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq

from benchmarks.cases.workspace_pages import store_events
from benchmarks.registry import Sides, case

ROWS, CHAINS = 300_000, 2
DATASETS, UPDATES = 200, 10
PIPELINE = '''"""Tables in three layers, {chains} times."""

from pyspark import pipelines as dp
from pyspark.sql import functions as F
'''
CHAIN = """
@dp.table
def silver{n}():
    rows = spark.readStream.table("main.bench.readings")
    return rows.where("rate > 61").withColumn("bpm", F.col("rate").cast("int"))

@dp.materialized_view
def daily{n}():
    rows = spark.read.table("silver{n}").groupBy("device", "day")
    return rows.agg(F.count("*").alias("n"), F.avg("bpm").alias("bpm"))

@dp.materialized_view
def gold{n}():
    daily = spark.read.table("daily{n}")
    pairs = daily.alias("a").join(daily.alias("b"), "device")
    return pairs.groupBy("device").agg(F.max("a.bpm").alias("bpm"))
"""
# What an update does for reports alone: everything else is the platform's event log.
COLLECTORS = (
    ("lakeward.pipelines.analysis.graph_resolution.column_lineage", lambda _: {}),
    ("lakeward.pipelines.graph.query_plans.OperatorTimes.enter", lambda *_: None),
    ("lakeward.pipelines.graph.query_plans.OperatorTimes.slowest", lambda _: []),
)


@case("report.collecting")
@contextmanager
def collecting(folder: Path) -> Iterator[Sides]:
    """An update of six tables, against the same update that collects nothing for reports.

    Wanted: `collecting_percent`, of 2 at most, the time within the collecting functions of the whole update.
    The ratio of two updates varies by more than what is measured.
    """
    import lakeward.session as lw
    from lakeward import pipelines

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    lw.ensure_schema(spark, "main", "bench")
    spark.range(ROWS).selectExpr(
        "id", "concat('d', id % 997) AS device", "60.5 + id % 100 AS rate", "DATE'2024-01-01' AS day"
    ).write.saveAsTable("main.bench.readings")
    file = folder / "layers.py"
    chains = [CHAIN.format(n=n) for n in range(CHAINS)]
    file.write_text(PIPELINE.format(chains=CHAINS) + "".join(chains))
    shares: list[float] = []

    def update(replaced: Callable[[str, Any], AbstractContextManager[Any]]) -> None:
        options = pipelines.UpdateOptions(
            name="layers", schema="layers", storage=folder / "storage", full_refresh_all=True
        )
        with replaced(*COLLECTORS[0]), replaced(*COLLECTORS[1]), replaced(*COLLECTORS[2]):
            done = pipelines.run([file], options, session=spark)
        if done.state != "COMPLETED":
            raise RuntimeError(done.error)

    def ours() -> None:
        spent: list[float] = []

        def timed(path: str, _: Any) -> AbstractContextManager[Any]:
            return patch(path, _timed(_find(path), spent))

        began = time.perf_counter()
        update(timed)
        shares.append(100 * sum(spent) / (time.perf_counter() - began))

    def without(path: str, nothing: Any) -> AbstractContextManager[Any]:
        return patch(path, nothing)

    yield Sides(ours, lambda: update(without), figures=lambda: {"collecting_percent": median(shares)})


def _find(path: str) -> Any:
    """Return the function that a path names."""
    from pkgutil import resolve_name

    return resolve_name(path)


def _timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    """Return the function, which adds its seconds to `spent`."""

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            spent.append(time.perf_counter() - began)

    return call


@case("report.write_200")
@contextmanager
def write_200(folder: Path) -> Iterator[Sides]:
    """The report of 200 datasets with lineage after ten updates, against reading the same events with Arrow.

    Wanted: `slowest_seconds`, of one at most, and `megabytes`, less than one.
    """
    from lakeward.report import build_report, page_document, write_page

    log = folder / "big" / "event_log"
    events = store_events(log, updates=UPDATES, datasets=DATASETS, lineage=True)
    page = folder / "report.html"
    taken: list[float] = []

    def ours() -> int:
        began = time.perf_counter()
        document = build_report("big", folder / "big", warehouse=folder / "warehouse", rows=True)
        assert document is not None
        write_page(page_document(document), page)
        taken.append(time.perf_counter() - began)
        return len(document["datasets"])

    def peer() -> int:
        return len([row for file in sorted(log.iterdir()) for row in pq.read_table(file).to_pylist()])

    def check(found: int) -> None:
        assert found in (DATASETS, events)

    def figures() -> dict[str, float]:
        return {"slowest_seconds": max(taken), "megabytes": page.stat().st_size / 1e6}

    yield Sides(ours, peer, check=check, figures=figures)
