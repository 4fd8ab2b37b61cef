"""Streams into Delta, ours and Spark's own, for the cases of Auto Loader."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_memory
from benchmarks.registry import Sides

__all__ = ["SMALL_SCHEMA", "Bench", "bench", "small_files"]

SMALL_SCHEMA = "id bigint, device string, rate double"
# Spark's settings for many small files on a small machine; both sides have them.
TUNING = {
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.sql.files.openCostInBytes": "4096",
}
EVERYTHING = 10_000_000


@dataclass
class Bench:
    """A session, an input folder and streams from it, each into a new table."""

    spark: Any
    folder: Path
    source: Path
    figures: Callable[[], dict[str, float]]
    seeds: dict[str, Path] = field(default_factory=dict)

    def run(self, side: str, stream: Any) -> Path:
        """All there is, in one batch, into a new table; from the side's seeded checkpoint if it has one."""
        place = self.folder / f"out-{uuid.uuid4().hex[:8]}"
        ready = self.folder / f"checkpoint-{side}"
        checkpoint = ready if ready.exists() else place / "checkpoint"
        writer = stream.load(str(self.source)).writeStream.option("checkpointLocation", str(checkpoint))
        writer.trigger(availableNow=True).start(str(place / "table")).awaitTermination()
        return place / "table"

    def ours(self, format: str, schema: str | None, **options: str) -> Path:
        """Auto Loader; without a schema it infers strings."""
        stream = self.spark.readStream.format("cloudFiles").option("cloudFiles.format", format)
        if schema is None:
            place = self.folder / f"schemas-{uuid.uuid4().hex[:8]}"
            stream = stream.option("cloudFiles.schemaLocation", str(place))
        else:
            stream = stream.schema(schema)
        return self.run("ours", stream.option("cloudFiles.maxFilesPerTrigger", EVERYTHING).options(**options))

    def peer(self, format: str, schema: str, **options: str) -> Path:
        """Spark's file stream; it looks below the folder itself only when told."""
        stream = self.spark.readStream.format(format).schema(schema).option("maxFilesPerTrigger", EVERYTHING)
        return self.run("peer", stream.options(recursiveFileLookup="true", **options))

    def prepare(self) -> None:
        """Put the seeded checkpoints back."""
        for side, seed in self.seeds.items():
            place = self.folder / f"checkpoint-{side}"
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(seed, place)

    def sides(
        self, ours: Callable[[], Path], peer: Callable[[], Path], *, rows: int, total: int | None = None
    ) -> Sides:
        """The two, checked by the number of rows (and the sum of `id`) of the table that each made."""

        def check(table: Path) -> None:
            if rows == 0:
                if (table / "_delta_log").exists():
                    raise AssertionError(f"{table} was written without new files")
                return
            found = self.spark.read.format("delta").load(str(table)).selectExpr("count(*)", "sum(id)").first()
            if found[0] != rows or (total is not None and found[1] != total):
                raise AssertionError(f"{table} holds {found}")
            shutil.rmtree(table.parent)

        return Sides(ours, peer, prepare=self.prepare, check=check, figures=self.figures)


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """A warm session with its lakehouse below `folder`."""
    import lakeward.session as lw

    source = folder / "in"
    source.mkdir()
    with peak_memory() as figures:
        spark = lw.session(lw.Settings.here(folder / "state", environ={}, conf=TUNING))
        yield Bench(spark, folder, source, figures)


def small_files(source: Path, numbers: range) -> None:
    """One-line JSON files of SMALL_SCHEMA, a thousand a folder."""
    for n in numbers:
        if n % 1000 == 0 or n == numbers.start:
            (source / f"{n // 1000:04}").mkdir(exist_ok=True)
        with open(source / f"{n // 1000:04}" / f"{n:07}.json", "w") as file:  # noqa: PTH123  # thrice as fast
            file.write(f'{{"id": {n}, "device": "d{n % 97}", "rate": {60 + n % 100}.5}}\n')
