"""Reads the files of one Spark task with the reader of their format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lakeward.autoloader.readers.batch_builder import BatchBuilder
from lakeward.autoloader.readers.file_contents import FileContents
from lakeward.autoloader.readers.parse_modes import BadRecordsWriter
from lakeward.autoloader.state import SkippedFiles

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.options import Options
    from lakeward.autoloader.read_plan import ReadPlan
    from lakeward.autoloader.readers.columnar import FileOpener


def read_task_files(plan: ReadPlan, schema: StructType, files: list[FileStatus]) -> Iterator[RecordBatch]:
    """Read the files of one task as record batches of `schema`.

    Raises CloudFilesError for files that cannot be read, NewFieldsError if the schema must grow first.
    """
    builder = BatchBuilder.of(plan, schema)
    skips = SkippedFiles(Path(plan.skipped)) if plan.skipped else None
    if skips is not None:
        skips.unmark(status.key for status in files)
    yield from _create_reader(builder, skips).read(files)


class FormatReader(Protocol):
    """A reader of one format."""

    def read(self, files: list[FileStatus]) -> Iterator[RecordBatch]:
        """Yield record batches; raise CloudFilesError or NewFieldsError."""


def _create_reader(builder: BatchBuilder, skips: SkippedFiles | None) -> FormatReader:
    name, contents = builder.plan.format, FileContents(builder.options, BadRecordsWriter.of(builder), skips)
    if builder.options.text("singleVariantColumn"):
        from lakeward.autoloader.readers.variant_reader import VariantReader

        return VariantReader(builder, contents)
    if name == "json":
        from lakeward.autoloader.readers.json_reader import JsonReader

        return JsonReader(builder, contents)
    if name == "csv":
        from lakeward.autoloader.readers.csv_reader import CsvReader

        return CsvReader(builder, contents)
    if name == "xml":
        from lakeward.autoloader.readers.xml_reader import XmlReader

        return XmlReader(builder, contents)
    if name == "text":
        from lakeward.autoloader.readers.raw_files import TextReader

        return TextReader(builder, contents)
    if name == "binaryfile":
        from lakeward.autoloader.readers.raw_files import BinaryReader

        return BinaryReader(builder, contents)
    from lakeward.autoloader.readers.columnar import ColumnarReader

    return ColumnarReader(builder, contents, file_opener(builder.options))


def file_opener(options: Options) -> FileOpener:
    """Return the function that opens typed files of the format."""
    if options.format == "avro":
        from lakeward.autoloader.readers.avro import avro_opener

        return avro_opener(options.text("avroSchema"))
    if options.format == "orc":
        from lakeward.autoloader.readers.columnar import open_orc

        return open_orc
    from lakeward.autoloader.readers.columnar import open_parquet

    return open_parquet
