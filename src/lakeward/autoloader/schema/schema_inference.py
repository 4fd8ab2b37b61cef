"""Data columns of files, by the inference of their format (AL-2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyspark.sql.types import BinaryType, LongType, StringType, StructType, TimestampType, VariantType

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError


def fixed_schema(options: Options) -> StructType:
    """Return the data columns of text, binaryFile, and single VARIANT columns."""
    variant = options.text("singleVariantColumn")
    if variant:
        return StructType().add(variant, VariantType())
    if options.format == "text":
        return StructType().add("value", StringType())
    columns = StructType().add("path", StringType()).add("modificationTime", TimestampType())
    return columns.add("length", LongType()).add("content", BinaryType())


class Inference(Protocol):
    """Schema inference of a format."""

    def add(self, data: bytes) -> str | None:
        """Add the content of a file. Return why it cannot be read, where the format detects it."""

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


def infer_schema(
    files: Sequence[FileStatus],
    options: Options,
    *,
    also_orc: bool = False,
    adds_corrupt: bool = False,
    nanos_as_long: bool = False,
) -> StructType:
    """Infer the schema of files; raise CF_FAILED_TO_INFER_SCHEMA, with a reason, if none is readable.

    Args:
        files: The files.
        options: The options of the source.
        also_orc: Whether ORC is read, whose schema Auto Loader does not infer (AL-2.2).
        adds_corrupt: Whether malformed JSON records get a column.
        nanos_as_long: Whether timestamps of Parquet in nanoseconds are BIGINT.
    """
    from lakeward.autoloader.readers.file_contents import FileContents

    inference = _create_inference(
        options, also_orc=also_orc, adds_corrupt=adds_corrupt, nanos_as_long=nanos_as_long
    )
    contents = FileContents(options)
    reasons = [reason for _, data in contents.read_all(files) if (reason := inference.add(data))]
    schema = inference.schema()
    if not schema.fields:
        reason = f": {reasons[0]}".rstrip(".?") if reasons else ""
        shown = FileNames.encode(files[0].key) if files else ""
        number = f"{len(files)} {options.format} {'file' if len(files) == 1 else 'files'}"
        raise CloudFilesError(
            "CF_FAILED_TO_INFER_SCHEMA",
            f"No columns were found in {number}, such as {shown}{reason}.",
            next_step="Check cloudFiles.format and the files, or set a schema with .schema(…).",
        )
    return schema


def _create_inference(
    options: Options, *, also_orc: bool, adds_corrupt: bool, nanos_as_long: bool
) -> Inference:
    if options.format == "json":
        from lakeward.autoloader.schema.json_inference import JsonInference

        return JsonInference(options, adds_corrupt=adds_corrupt)
    if options.format == "csv":
        from lakeward.autoloader.schema.csv_inference import CsvInference

        return CsvInference(options)
    if options.format == "xml":
        from lakeward.autoloader.schema.xml_inference import XmlInference

        return XmlInference(options)
    if options.format == "excel":
        from lakeward.autoloader.readers.columnar import ColumnarInference
        from lakeward.autoloader.readers.excel_sheet import typed_opener

        return ColumnarInference(typed_opener(options))
    if options.format in ("parquet", "avro") or (also_orc and options.format == "orc"):
        from lakeward.autoloader.readers.columnar import ColumnarInference, file_opener

        return ColumnarInference(file_opener(options, nanos_as_long=nanos_as_long))
    raise CloudFilesError(
        "CF_UNSUPPORTED_FORMAT_FOR_SCHEMA_INFERENCE",
        f"The schema of {options.format} files cannot be inferred.",
        next_step="Set a schema with .schema(…).",
    )
