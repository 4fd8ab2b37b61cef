"""The first answer of a command, against a bare Spark with Delta; and what the pytest plugin costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.registry import Sides, case

BARE = """\
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.memory", "2g").config("spark.jars", {jars!r})
builder = builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
builder = builder.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
spark = builder.config("spark.sql.warehouse.dir", {warehouse!r}).getOrCreate()
spark.sql("select 1").show()
"""
SUITE = "def test_arithmetic():\n    assert 1 + 1 == 2\n"


def sides(folder: Path, *options: str, cache: Path | None) -> Sides:
    """`lakeward sql -e "select 1"` and the same in plain PySpark, each a process from start to end."""
    from lakeward.session.jvm.jars import pinned_jars
    from lakeward.session.jvm.java_runtime import find_java

    script = folder / "bare.py"
    jars = ",".join(map(str, pinned_jars()))
    script.write_text(BARE.format(jars=jars, warehouse=(folder / "warehouse").as_uri()))
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment["JAVA_HOME"] = str(find_java().parent.parent)
    own = {**environment, "LAKEWARD_CACHE": str(cache)} if cache else environment

    def ours() -> str:
        command = [sys.executable, "-m", "lakeward", "sql", *options, "-e", "select 1"]
        return said(command, folder, own)

    def peer() -> str:
        return said([sys.executable, str(script)], folder, environment)

    def check(text: str) -> None:
        if not any(line.strip(" |") == "1" for line in text.splitlines()):
            raise AssertionError(f"no row with 1 in:\n{text}")

    return Sides(ours, peer, check=check)


def said(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What the program prints; CalledProcessError where it fails."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    ).stdout


@case("adopt.sql_cold", goal=1.1)
@contextmanager
def sql_cold(folder: Path) -> Iterator[Sides]:
    """With a JVM of its own."""
    yield sides(folder, "--cold", cache=None)


@case("adopt.sql_warm", goal=0.25, warmups=2)
@contextmanager
def sql_warm(folder: Path) -> Iterator[Sides]:
    """With the JVM that the command before has left."""
    from lakeward.session import cache_dir

    cache = folder / "cache"
    cache.mkdir()
    for name in ("jars", "java"):
        (cache / name).symlink_to(cache_dir() / name)
    try:
        yield sides(folder, cache=cache)
    finally:
        environment = {**os.environ, "LAKEWARD_CACHE": str(cache)}
        said([sys.executable, "-m", "lakeward", "stop"], folder, environment)


# 0.2 s is half of what pytest itself takes for such a suite.
@case("adopt.plugin_overhead", goal=1.5)
@contextmanager
def plugin_overhead(folder: Path) -> Iterator[Sides]:
    """A suite that asks for no Spark, with the plugin and with `-p no:lakeward`."""
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = dict(os.environ)
    yield Sides(
        ours=lambda: said(plain, folder, environment),
        peer=lambda: said([*plain, "-p", "no:lakeward"], folder, environment),
    )
