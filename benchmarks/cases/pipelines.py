"""Declarative pipelines against `spark-pipelines`, the runner that Spark brings along."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from benchmarks.connect import connect_packages
from benchmarks.registry import Sides, case

SOURCE = '''"""Three small datasets: files to bronze, bronze to silver, silver to gold."""

from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.getActiveSession()


@dp.table
def bronze():
    return spark.readStream.schema("id bigint, device string, rate double").json({folder!r})


@dp.table
def silver():
    return spark.readStream.table("bronze").where("rate > 0").withColumn("bpm", F.col("rate").cast("int"))


@dp.materialized_view
def gold():
    readings = spark.read.table("silver").groupBy("device")
    return readings.agg(F.avg("bpm").alias("bpm"), F.count("*").alias("readings"))
'''

SPEC = """name: cold_3
storage: {storage}
libraries:
  - glob:
      include: transformations/**
configuration:
  spark.sql.shuffle.partitions: "2"
"""


@case("pipelines.cold_3", goal=0.5)
@contextmanager
def cold_3(folder: Path) -> Iterator[Sides]:
    """A cold run, process start to end, of the same file into new tables.

    The peer writes Delta with the same jars and has the settings for small machines too.
    """
    data, sources = folder / "in", folder / "transformations"
    data.mkdir()
    sources.mkdir()
    for n in range(10):
        rows = (f'{{"id": {n * 100 + i}, "device": "d{i % 7}", "rate": {60 + i}.5}}\n' for i in range(100))
        (data / f"{n}.json").write_text("".join(rows))
    (sources / "datasets.py").write_text(SOURCE.format(folder=f"file:{data}"))
    packages = connect_packages()
    rounds = count()

    def fresh() -> Path:
        place = folder / f"run{next(rounds)}"
        place.mkdir()
        return place

    def ours() -> Path:
        place = fresh()
        environment = {**os.environ, "LAKEWARD_HOME": str(place / "state"), "LAKEWARD_COLD": "1"}
        run([sys.executable, "-m", "lakeward", "pipeline", str(sources)], place, environment)
        return place / "state" / "local" / "warehouse" / "main" / "default" / "gold"

    def peer() -> Path:
        place = fresh()
        shutil.copytree(sources, place / "transformations")
        (place / "spark-pipeline.yml").write_text(SPEC.format(storage=(place / "storage").as_uri()))
        run([*peer_command(place), "run"], place, peer_environment(packages, place))
        return place / "warehouse" / "gold"

    def check(gold: Path) -> None:
        import pyarrow.parquet as pq

        rows = sum(pq.ParquetFile(part).metadata.num_rows for part in gold.glob("*.parquet"))
        if rows != 7:
            raise AssertionError(f"{gold} holds {rows} rows; 7 devices were expected")

    yield Sides(ours, peer, check=check)


def run(command: list[str], place: Path, environment: dict[str, str]) -> None:
    """Run to the end; RuntimeError with the end of what it said where it fails."""
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def peer_command(place: Path) -> list[str]:
    """`spark-pipelines` on all cores (it takes one unless told), with Delta and a warehouse below `place`."""
    import pyspark

    (place / "conf").mkdir()
    defaults = "".join(f"{key} {value}\n" for key, value in peer_conf(place).items())
    (place / "conf" / "spark-defaults.conf").write_text(defaults)
    return [str(Path(pyspark.__file__).parent / "bin" / "spark-pipelines"), "--remote", "local[*]"]


def peer_conf(place: Path) -> dict[str, str]:
    """What the peer needs for Delta, and the settings for small machines that lakeward has too."""
    from lakeward.session.jvm.jars import pinned_jars

    return {
        "spark.driver.memory": "2g",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, pinned_jars())),
        "spark.ui.enabled": "false",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.sources.default": "delta",
        "spark.sql.warehouse.dir": (place / "warehouse").as_uri(),
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
    }


def peer_environment(packages: Path, place: Path) -> dict[str, str]:
    """The same Java and Python, and the packages that Spark Connect needs on top."""
    import pyspark

    from lakeward.session.jvm.java_runtime import find_java

    return {
        **os.environ,
        "JAVA_HOME": str(find_java().parent.parent),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(place / "conf"),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": str(packages),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
