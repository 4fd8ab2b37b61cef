"""`lakeward doctor` on a table of 10,000 files, against reading the same checkpoint with Arrow alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.registry import Sides, case

FILES = 10_000


def table(folder: Path) -> None:
    """A checkpoint and the files, of which all are small, with statistics of 30 columns."""
    from tests.doctor.delta_tables import DeltaTable

    made = DeltaTable(folder)
    log = folder / "_delta_log" / f"{0:020}.json"
    metadata = json.loads(log.read_text().splitlines()[1])
    values = {f"column_{number}": number for number in range(30)}
    stats = {"minValues": values, "maxValues": values}
    files = [made.add(1000, stats=stats, on_disk=True) for _ in range(FILES)]
    made.commit(*files)
    made.checkpoint([metadata, *files])


@case("doctor.table_10000")
@contextmanager
def table_10000(folder: Path) -> Iterator[Sides]:
    """The whole command, start of Python included."""
    table(folder / "t")
    checkpoint = next((folder / "t" / "_delta_log").glob("*.parquet"))
    read = f"import pyarrow.parquet as pq\npq.read_table({str(checkpoint)!r}).to_pylist()\n"

    def ours() -> str:
        command = [sys.executable, "-m", "lakeward", "doctor", str(folder / "t")]
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout

    def peer() -> str:
        subprocess.run([sys.executable, "-c", read], check=True)
        return ""

    def check(output: str) -> None:
        if output and "many small files" not in output:
            raise AssertionError(output[:500])

    yield Sides(ours, peer, check=check)
