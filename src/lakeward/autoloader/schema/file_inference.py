"""Schema inference over files of one format: the sample at the first start, and a batch with new fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from lakeward.autoloader.conversion.arrow_cast import spark_compatible_type
from lakeward.autoloader.conversion.type_merging import add_column, to_table_type
from lakeward.autoloader.discovery import FileNames, FileStatus
from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.columnar import FileOpener
from lakeward.autoloader.readers.file_contents import FileContents
from lakeward.errors import CloudFilesError


class ColumnarInference:
    """Infers the schema of files that carry their types, the wider type where files differ (AL-2.2)."""

    def __init__(self, opened: FileOpener) -> None:
        self._opened = opened
        self._columns: dict[str, DataType] = {}

    def add(self, data: bytes) -> None:
        """Add the content of a file. Files of another format are ignored."""
        try:
            source = self._opened(data)
        except (ValueError, EOFError, OSError):
            return
        for field in source.schema:
            add_column(self._columns, field.name, from_arrow_type(spark_compatible_type(field.type)))

    def schema(self) -> StructType:
        """Return columns in file order; a column that is always null is a string."""
        columns = [(name, to_table_type(dtype)) for name, dtype in self._columns.items()]
        return StructType([StructField(name, dtype) for name, dtype in columns if dtype is not None])


class Inference(Protocol):
    """Schema inference of a format."""

    def add(self, data: bytes) -> None:
        """Add the content of a file."""

    def schema(self) -> StructType:
        """Return the merged schema."""


def sample_files(files: Sequence[FileStatus], *, max_files: int, max_bytes: int) -> list[FileStatus]:
    """Return the newest files up to both limits, oldest first (AL-2.1.2, AL-2.1.3, assumed)."""
    chosen, total = [], 0
    for status in sorted(files, key=lambda s: (-s.mtime, s.key))[:max_files]:
        chosen.append(status)
        total += status.size
        if total >= max_bytes:
            break
    return sorted(chosen, key=lambda s: (s.mtime, s.key))


def infer_schema(files: Sequence[FileStatus], options: Options, *, also_orc: bool = False) -> StructType:
    """Infer the schema of files; raise CF_FAILED_TO_INFER_SCHEMA if none is readable.

    `also_orc` includes ORC, whose schema Auto Loader does not infer (AL-2.2).
    """
    inference = _create_inference(options, also_orc=also_orc)
    contents = FileContents(options)
    for status in files:
        data = contents.of(status)
        if data is not None:
            inference.add(data)
    schema = inference.schema()
    if not schema.fields:
        shown = FileNames.encode(files[0].key) if files else ""
        raise CloudFilesError(
            "CF_FAILED_TO_INFER_SCHEMA",
            f"No columns were found in {len(files)} {options.format} files, such as {shown}.",
            next_step="Check cloudFiles.format and the files, or set a schema with .schema(…).",
        )
    return schema


def _create_inference(options: Options, *, also_orc: bool) -> Inference:
    if options.format == "json":
        from lakeward.autoloader.schema.json_inference import JsonInference

        return JsonInference(options)
    if options.format == "csv":
        from lakeward.autoloader.schema.csv_inference import CsvInference

        return CsvInference(options)
    if options.format == "xml":
        from lakeward.autoloader.schema.xml_inference import XmlInference

        return XmlInference(options)
    if options.format in ("parquet", "avro") or (also_orc and options.format == "orc"):
        from lakeward.autoloader.readers.task_reader import file_opener

        return ColumnarInference(file_opener(options))
    raise CloudFilesError(
        "CF_UNSUPPORTED_FORMAT_FOR_SCHEMA_INFERENCE",
        f"The schema of {options.format} files cannot be inferred.",
        next_step="Set a schema with .schema(…).",
    )
