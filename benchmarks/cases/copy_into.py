"""COPY INTO against reading just the new files and appending them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.registry import Sides, case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOADED = 20_000
NEW = 100


def _put(folder: Path, first: int, number: int) -> list[str]:
    """CSV files of three rows, numbered from `first`."""
    paths = [folder / f"{n:07}.csv" for n in range(first, first + number)]
    for n, path in enumerate(paths, first):
        path.write_text("id,device,rate\n" + "".join(f"{n * 3 + r},d{n % 97},{60 + r}.5\n" for r in range(3)))
    return [str(path) for path in paths]


def _loaded(spark: SparkSession, folder: Path, table: str, number: int) -> str:
    """A table that has loaded `number` files of `folder`; gives the statement."""
    folder.mkdir()
    _put(folder, 0, number)
    spark.sql(f"CREATE TABLE {table} (id STRING, device STRING, rate STRING)")
    statement = f"COPY INTO {table} FROM '{folder}' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')"
    spark.sql(statement).collect()
    return statement


@case("sql.copy_100_after_20k", goal=1.5)
@contextmanager
def copy_100_after_20k(folder: Path) -> Iterator[Sides]:
    """100 new CSV files after 20,000 loaded ones; the peer is told their names, COPY INTO finds them."""
    import lakeward.session as lw

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    landing = folder / "in"
    statement = _loaded(spark, landing, "ours", LOADED)
    spark.sql("CREATE TABLE peers (id STRING, device STRING, rate STRING)")
    numbers, newest = count(LOADED, NEW), list[str]()

    def prepare() -> None:
        if not newest:
            newest[:] = _put(landing, next(numbers), NEW)

    def ours() -> int:
        rows = int(spark.sql(statement).collect()[0][0])
        newest.clear()
        return rows

    def peer() -> int:
        spark.read.csv(newest, header=True).write.mode("append").saveAsTable("peers")
        return NEW * 3

    def check(rows: Any) -> None:
        if rows != NEW * 3:
            raise AssertionError(f"{rows} rows were loaded")

    yield Sides(ours, peer, prepare=prepare, check=check)


@case("sql.copy_idle", goal=2.0)
@contextmanager
def copy_idle(folder: Path) -> Iterator[Sides]:
    """Nothing new after 20,000 files; the peer is the same after 1,000."""
    import lakeward.session as lw

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    many = _loaded(spark, folder / "many", "many", LOADED)
    few = _loaded(spark, folder / "few", "few", 1000)

    def check(rows: Any) -> None:
        if rows:
            raise AssertionError(f"{rows} rows were loaded twice")

    yield Sides(
        lambda: int(spark.sql(many).collect()[0][0]), lambda: int(spark.sql(few).collect()[0][0]), check=check
    )
