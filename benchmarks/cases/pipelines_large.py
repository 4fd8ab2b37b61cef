"""Expectations on many rows, and updates of many datasets that find nothing new."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from benchmarks.cases.pipelines import peer_command, peer_conf, peer_environment, run
from benchmarks.connect import connect_packages
from benchmarks.registry import Sides, case

ROWS = 5_000_000
VIEW = '''"""One view of many rows."""

import dlt
{rules}
@dlt.table
def checked():
    return spark.read.table("main.bench.readings").withColumn("bpm", F.col("rate").cast("int"))
'''
RULES = """from pyspark.sql import functions as F

@dlt.expect("id", "id IS NOT NULL")
@dlt.expect("rate", "rate > 0")
@dlt.expect("human", "rate BETWEEN 20 AND 250")
@dlt.expect("bpm", "bpm IS NOT NULL AND bpm >= 20")
@dlt.expect("device", "device LIKE 'd%'")
@dlt.expect("day", "day >= DATE'2020-01-01'")
@dlt.expect("not in the future", "day < DATE'2100-01-01'")
@dlt.expect("known device", "length(device) <= 6")
@dlt.expect_or_drop("real", "NOT isnan(rate)")
@dlt.expect_or_drop("whole", "rate IS NOT NULL OR bpm IS NULL")
"""
LAYER = """
@dp.table
def bronze{n}():
    return spark.readStream.schema("id bigint, device string, rate double").json({folder!r})

@dp.table
def silver{n}():
    return spark.readStream.table("bronze{n}").where("rate > 0")

@dp.materialized_view
def daily{n}():
    return spark.read.table("silver{n}").groupBy("device").agg(F.count("*").alias("n"))

@dp.materialized_view
def ranked{n}():
    return spark.read.table("daily{n}").withColumn("share", F.col("n") / 100)

@dp.materialized_view
def gold{n}():
    return spark.read.table("ranked{n}").agg(F.max("share").alias("share"))
"""
HEAD = '''"""Twenty datasets in five layers."""

from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.getActiveSession()
'''
SPEC = """name: idle_20
storage: {storage}
libraries:
  - glob:
      include: transformations/**
"""


@case("pipelines.expectations", goal=1.25)
@contextmanager
def expectations(folder: Path) -> Iterator[Sides]:
    """A view of five million rows with ten rules, and the same view without, in one warm session."""
    import lakeward.session as lw
    from lakeward import pipelines

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    lw.ensure_schema(spark, "main", "bench")
    spark.range(ROWS).selectExpr(
        "id", "concat('d', id % 997) AS device", "60.5 + id % 100 AS rate", "DATE'2024-01-01' AS day"
    ).write.saveAsTable("main.bench.readings")
    imports = "from pyspark.sql import functions as F\n"
    files = {"ours": folder / "ours.py", "peer": folder / "peer.py"}
    for side, file in files.items():
        file.write_text(VIEW.format(rules=RULES if side == "ours" else imports))

    def update(side: str) -> str:
        done = pipelines.run(
            [files[side]],
            pipelines.UpdateOptions(
                name=side, schema=side, storage=folder / "storage" / side, full_refresh_all=True
            ),
            session=spark,
        )
        if done.state != "COMPLETED":
            raise RuntimeError(done.error)
        return f"main.{side}.checked"

    def check(table: str) -> None:
        if spark.table(table).count() != ROWS:
            raise AssertionError(f"{table} does not hold {ROWS} rows")

    yield Sides(lambda: update("ours"), lambda: update("peer"), check=check)


@case("pipelines.idle_20", goal=0.4, warmups=0)
@contextmanager
def idle_20(folder: Path) -> Iterator[Sides]:
    """The second update of twenty datasets with nothing new, process start to end.

    Streaming tables and materialized views; the peer keeps its catalog in an embedded metastore, since
    without one it cannot run twice.
    """
    data, sources = folder / "in", folder / "transformations"
    data.mkdir()
    sources.mkdir()
    rows = (f'{{"id": {i}, "device": "d{i % 7}", "rate": {60 + i}.5}}\n' for i in range(100))
    (data / "0.json").write_text("".join(rows))
    layers = [LAYER.format(n=n, folder=f"file:{data}") for n in range(4)]
    (sources / "datasets.py").write_text(HEAD + "".join(layers))
    packages = connect_packages()
    rounds = count()
    theirs = folder / "peer"
    theirs.mkdir()
    shutil.copytree(sources, theirs / "transformations")
    (theirs / "spark-pipeline.yml").write_text(SPEC.format(storage=(theirs / "storage").as_uri()))
    command = [*peer_command(theirs), "run"]
    derby = f"jdbc:derby:;databaseName={theirs}/metastore"
    metastore = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"{derby};create=true",
    }
    conf = {**peer_conf(theirs), **metastore}
    (theirs / "conf" / "spark-defaults.conf").write_text("".join(f"{k} {v}\n" for k, v in conf.items()))
    environment = {**os.environ, "LAKEWARD_HOME": str(folder / "state"), "LAKEWARD_COLD": "1"}

    def ours() -> int:
        run([sys.executable, "-m", "lakeward", "pipeline", str(sources)], folder, environment)
        return next(rounds)

    def peer() -> int:
        run(command, theirs, peer_environment(packages, theirs))
        return next(rounds)

    ours()
    peer()
    yield Sides(ours, peer)
