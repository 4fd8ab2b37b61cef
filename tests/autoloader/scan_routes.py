"""Both routes of a micro-batch: Spark's own readers and the Python readers, over the same files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import StructType

from lakeward.autoloader.readers.batch_builder import BatchBuilder
from lakeward.autoloader.readers.scan_check import create_scan_check
from lakeward.autoloader.streams import scan_planning
from tests.autoloader.reader_harness import plan_of

PYTHON_ONLY = 1 << 60
Cells = dict[str, tuple[Any, str, list[Any]]]
"""Columns of an Avro file: Avro type, Spark type, and values, which repeat."""


@pytest.fixture
def scanning(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set the mean size from which Spark's readers are used; 0 includes the small files of these tests."""

    def use(least: int) -> None:
        monkeypatch.setattr(scan_planning, "MIN_MEAN_BYTES", {"parquet": least, "avro": least})

    use(0)
    return use


class Plans:
    """Loads the files of a folder into tables, by either route."""

    def __init__(self, landing: Any, scanning: Callable[[int], None]) -> None:
        self.landing = landing
        self.scanning = scanning
        self.number = 0
        self.plan = self.fast_plan = ""

    def load(self, least: int, *columns: str, **options: Any) -> Any:
        """Return the rows as a DataFrame of a new table, by scans of batches with this mean size."""
        self.scanning(least)
        self.number += 1
        place = self.landing.folder.parent / f"run{self.number}"
        df = self.landing.stream(**{"schema": None, **options})
        query = (
            df.selectExpr(*(columns or ("*",)), "_metadata.file_path AS file", "_metadata.file_size AS size")
            .writeStream.option("checkpointLocation", str(place / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(place / "table"))
        )
        query.awaitTermination()
        self.plan = query._jsq.explainInternal(False)
        return self.landing.spark.read.format("delta").load(str(place / "table"))

    def assert_same(self, *columns: str, rows: int, **options: Any) -> Any:
        """Compare both routes as multisets and return the rows of the scan."""
        fast = self.load(0, *columns, **options)
        self.fast_plan = self.plan
        slow = self.load(PYTHON_ONLY, *columns, **options)
        assert fast.schema == slow.schema
        assert (fast.count(), slow.count()) == (rows, rows)
        assert fast.exceptAll(slow).collect() == []
        assert slow.exceptAll(fast).collect() == []
        return fast


@pytest.fixture
def plans(landing, scanning) -> Plans:
    """Both routes over the landing folder."""
    return Plans(landing, scanning)


def qualifying(folder: Path, schema: StructType, name: str) -> set[str]:
    """Return the names of the files that Spark's readers may read."""
    builder = BatchBuilder.of(plan_of(schema, rescued="_rescued_data", cf_format=name), schema)
    check = create_scan_check(builder)
    files = [path for path in folder.rglob(f"*.{name}") if not path.name.startswith(".")]
    return {path.name for path in files if check.qualifies(str(path))}


def cycle(values: list[Any], rows: int) -> list[Any]:
    return [values[n % len(values)] for n in range(rows)]


def put_avro(path: Path, columns: Cells, rows: int, codec: str = "null") -> None:
    fields = [{"name": name, "type": dtype} for name, (dtype, _, _) in columns.items()]
    values = {name: cycle(cells, rows) for name, (_, _, cells) in columns.items()}
    records = [{name: cells[n] for name, cells in values.items()} for n in range(rows)]
    schema = fastavro.parse_schema({"type": "record", "name": "R", "namespace": "n", "fields": fields})
    with path.open("wb") as stream:
        fastavro.writer(stream, schema, records, codec=codec, sync_interval=2000)


def put_parquet(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def longs(*values: int | None) -> pa.Array:
    return pa.array(values, pa.int64())
