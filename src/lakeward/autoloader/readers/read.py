"""The way of one task: its files through the format's reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lakeward.autoloader.readers.bad_records import BadRecords
from lakeward.autoloader.readers.drift import NewFields
from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.layout import Layout
from lakeward.autoloader.state import Skips

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.options import Options
    from lakeward.autoloader.plan import ReadPlan
    from lakeward.autoloader.readers.columnar import Opened

__all__ = ["opener", "read"]


def read(
    plan: ReadPlan, schema: StructType, files: list[FileStatus], batch: tuple[str, int, int]
) -> Iterator[RecordBatch]:
    """Record batches of `schema`. Raises CloudFilesError; UnknownFieldException when it has to grow."""
    layout = Layout.of(plan, schema)
    skips = Skips(Path(plan.skipped)) if plan.skipped else None
    if skips is not None:
        skips.withdraw(status.key for status in files)
    try:
        yield from _reader(layout, skips).read(files)
    except NewFields as found:
        from lakeward.autoloader.schema.evolution import evolve

        raise evolve(plan, found, batch) from None


class Reader(Protocol):
    """What a format adds."""

    def read(self, files: list[FileStatus]) -> Iterator[RecordBatch]:
        """Record batches of many files, or of a part of one. Raises CloudFilesError, NewFields."""


def _reader(layout: Layout, skips: Skips | None) -> Reader:
    name, contents = layout.plan.format, Contents(layout.options, BadRecords.of(layout), skips)
    if layout.options.text("singleVariantColumn"):
        from lakeward.autoloader.readers.variant import VariantReader

        return VariantReader(layout, contents)
    if name == "json":
        from lakeward.autoloader.readers.json import JsonReader

        return JsonReader(layout, contents)
    if name == "csv":
        from lakeward.autoloader.readers.csv import CsvReader

        return CsvReader(layout, contents)
    if name == "xml":
        from lakeward.autoloader.readers.xml import XmlReader

        return XmlReader(layout, contents)
    if name == "text":
        from lakeward.autoloader.readers.text import TextReader

        return TextReader(layout, contents)
    if name == "binaryfile":
        from lakeward.autoloader.readers.binary import BinaryReader

        return BinaryReader(layout, contents)
    from lakeward.autoloader.readers.columnar import ColumnarReader

    return ColumnarReader(layout, contents, opener(layout.options))


def opener(options: Options) -> Opened:
    """How a file that carries its types is opened."""
    if options.format == "avro":
        from lakeward.autoloader.readers.avro import avro_opener

        return avro_opener(options.text("avroSchema"))
    if options.format == "orc":
        from lakeward.autoloader.readers.orc import open_orc

        return open_orc
    from lakeward.autoloader.readers.parquet import open_parquet

    return open_parquet
