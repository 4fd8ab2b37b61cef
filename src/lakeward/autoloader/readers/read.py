"""The way of one task: its files through the format's reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeward.autoloader.readers.drift import NewFields
from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.layout import Layout

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.plan import ReadPlan

__all__ = ["read"]


def read(
    plan: ReadPlan, schema: StructType, files: list[FileStatus], batch: tuple[str, int, int]
) -> Iterator[RecordBatch]:
    """Record batches of `schema`. Raises CloudFilesError; UnknownFieldException when it has to grow."""
    layout = Layout.of(plan, schema)
    contents = Contents(plan.set_options)
    try:
        if plan.format == "json":
            from lakeward.autoloader.readers.json import JsonReader

            yield from JsonReader(layout, contents).read(files)
        elif plan.format == "csv":
            from lakeward.autoloader.readers.csv import CsvReader

            yield from CsvReader(layout, contents).read(files)
        else:
            from lakeward.autoloader.readers.parquet import ParquetReader

            yield from ParquetReader(layout, contents).read(files)
    except NewFields as found:
        from lakeward.autoloader.schema.evolution import evolve

        raise evolve(plan, found, batch) from None
