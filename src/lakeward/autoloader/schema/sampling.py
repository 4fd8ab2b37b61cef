"""The schema of some files, by format: the sample at the first start, and a batch that drifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyspark.sql.types import StructType

from lakeward.autoloader.discovery import FileStatus, Names
from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.files import Contents
from lakeward.errors import CloudFilesError

__all__ = ["infer_files", "sample"]


class Inference(Protocol):
    """What a format's inference does: files in, schema out."""

    def add(self, data: bytes) -> None:
        """A file's bytes."""

    def schema(self) -> StructType:
        """What they have together."""


def sample(files: Sequence[FileStatus], *, max_files: int, max_bytes: int) -> list[FileStatus]:
    """The newest files, up to both limits, in the order in which they came (§2.1 rules 2–3, assumed)."""
    chosen, total = [], 0
    for status in sorted(files, key=lambda s: (-s.mtime, s.key))[:max_files]:
        chosen.append(status)
        total += status.size
        if total >= max_bytes:
            break
    return sorted(chosen, key=lambda s: (s.mtime, s.key))


def infer_files(files: Sequence[FileStatus], options: Options, *, also_orc: bool = False) -> StructType:
    """The schema of these files. Raises CF_FAILED_TO_INFER_SCHEMA when nothing in them can be read.

    `also_orc`: ORC files tell their columns, but Auto Loader does not ask them (§2.2).
    """
    inference = _inference(options, also_orc=also_orc)
    contents = Contents(options)
    for status in files:
        data = contents.of(status)
        if data is not None:
            inference.add(data)
    schema = inference.schema()
    if not schema.fields:
        shown = Names.shown(files[0].key) if files else ""
        raise CloudFilesError(
            "CF_FAILED_TO_INFER_SCHEMA",
            f"No columns were found in {len(files)} {options.format} files, such as {shown}.",
            next_step="Check cloudFiles.format and the files, or give a schema with .schema(…).",
        )
    return schema


def _inference(options: Options, *, also_orc: bool) -> Inference:
    if options.format == "json":
        from lakeward.autoloader.schema.infer_json import JsonInference

        return JsonInference(options)
    if options.format == "csv":
        from lakeward.autoloader.schema.infer_csv import CsvInference

        return CsvInference(options)
    if options.format == "xml":
        from lakeward.autoloader.schema.infer_xml import XmlInference

        return XmlInference(options)
    if options.format in ("parquet", "avro") or (also_orc and options.format == "orc"):
        from lakeward.autoloader.readers.read import opener
        from lakeward.autoloader.schema.infer_columnar import ColumnarInference

        return ColumnarInference(opener(options))
    raise CloudFilesError(
        "CF_UNSUPPORTED_FORMAT_FOR_SCHEMA_INFERENCE",
        f"The schema of {options.format} files cannot be inferred.",
        next_step="Give one with .schema(…).",
    )
