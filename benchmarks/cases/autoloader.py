"""Auto Loader against Spark's own file stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.registry import Sides, case

FILES = 20_000
SCHEMA = "id bigint, device string, rate double"
TUNING = {
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.sql.files.openCostInBytes": "4096",
}


@case("autoloader.small_20k", goal=0.5)
@contextmanager
def small_20k(folder: Path) -> Iterator[Sides]:
    """20,000 one-line JSON files into a new Delta table in one micro-batch, both in the same warm session.

    The peer has Spark's settings for many small files; both know the schema.
    """
    import lakeward.session as lw

    source = folder / "in"
    source.mkdir()
    for n in range(FILES):
        (source / f"{n:05}.json").write_text(
            f'{{"id": {n}, "device": "d{n % 97}", "rate": {60 + n % 100}.5}}\n'
        )
    settings = lw.Settings.here(folder / "state", environ={}, conf=TUNING)
    spark = lw.session(settings)
    rounds = count()

    def into_delta(stream: Any) -> Path:
        place = folder / f"out{next(rounds)}"
        started = stream.load(str(source)).writeStream.option("checkpointLocation", str(place / "checkpoint"))
        started.trigger(availableNow=True).start(str(place / "table")).awaitTermination()
        return place / "table"

    def ours() -> Path:
        stream = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").schema(SCHEMA)
        return into_delta(stream.option("cloudFiles.maxFilesPerTrigger", FILES))

    def peer() -> Path:
        return into_delta(spark.readStream.format("json").schema(SCHEMA).option("maxFilesPerTrigger", FILES))

    def check(table: Path) -> None:
        found = spark.read.format("delta").load(str(table)).agg({"id": "sum", "*": "count"}).collect()[0]
        if sorted(found) != sorted([FILES, FILES * (FILES - 1) // 2]):
            raise AssertionError(f"{table} holds {found}")

    yield Sides(ours, peer, check=check)
