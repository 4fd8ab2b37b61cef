"""Files below a path as a batch, for read_files and COPY INTO: listing, columns and rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery import FileLister, FileNames, FileStatus, session_file_names
from lakeward.autoloader.options import Options
from lakeward.autoloader.read_plan import METADATA, PLAN_OPTION, create_lister
from lakeward.autoloader.streams.checkpoint_handoff import handoff_directory
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema import ResolvedSchema

_EXTENSIONS = {
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
    **dict.fromkeys(("csv", "tsv"), "csv"),
    **dict.fromkeys(("txt", "text", "log"), "text"),
    **{name: name for name in ("avro", "orc", "parquet", "xml")},
}
_COMPRESSION_SUFFIXES = (".gz", ".bz2", ".zst", ".zstd", ".deflate", ".snappy", ".lz4")


@dataclass(frozen=True)
class Rescue:
    """The rescued data column; `name` is None if there is no such column."""

    name: str | None


@dataclass(frozen=True)
class FileSource:
    """Files below a path (local or URI) under a set of options."""

    options: Options
    names: FileNames
    source: str

    @classmethod
    def of(cls, path: str, user_options: Mapping[str, str]) -> FileSource:
        """Create a source from a user's path and options (with Auto Loader's keys)."""
        names = session_file_names()
        return cls(Options.of(user_options), names, names.local(path))

    @property
    def display_path(self) -> str:
        """Return the path as users know it."""
        return self.names.key(self.source)

    @property
    def lister(self) -> FileLister:
        """Return a lister of these files."""
        return create_lister(self.source, self.names, self.options)

    def with_options(self, **options: str) -> FileSource:
        """Return a copy with further options, spelled as in Auto Loader."""
        return replace(self, options=Options.of({**self.options.raw, **options}))

    def files(self, known: Callable[[str], bool] = lambda _: False) -> list[FileStatus]:
        """Return files that are not known, oldest first; raise FileNotFoundError without a source."""
        return self.lister.list_new(known)

    def require_exists(self) -> None:
        """Raise FileNotFoundError if the source does not exist."""
        next(iter(self.lister.storage.walk(self.lister.root, lambda _: True)), None)

    def infer_columns(
        self, files: Sequence[FileStatus], *, of: Sequence[FileStatus] | None = None
    ) -> ResolvedSchema:
        """Infer the columns of `files` from `of`, or from all of them, and apply hints.

        Raises CloudFilesError if nothing can be inferred.
        """
        from pyspark.sql.types import StructType

        from lakeward.autoloader.options.validation import has_fixed_schema
        from lakeward.autoloader.schema import ResolvedSchema, apply_hints_option
        from lakeward.autoloader.schema.file_inference import infer_schema
        from lakeward.autoloader.schema.schema_resolution import fixed_schema, infer_partition_schema

        if has_fixed_schema(self.options):
            partitions = infer_partition_schema(self._below(files), self.options, None)
            return ResolvedSchema(fixed_schema(self.options), partitions, "none", None)
        if not files:
            raise CloudFilesError(
                "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE",
                f"Cannot infer schema when the input path {self.display_path} is empty.",
                next_step="Add files, or set the columns with `schema`.",
            )
        partitions = infer_partition_schema(self._below(files), self.options, None)
        data = infer_schema(list(files if of is None else of), self.options, also_orc=True)
        own = StructType([field for field in data.fields if field.name not in partitions.names])
        data, partitions = apply_hints_option(self.options, (own, partitions))
        return ResolvedSchema(data, partitions, "rescue", None)

    def match_columns(
        self, files: Sequence[FileStatus], schema: StructType, rescue: Rescue
    ) -> ResolvedSchema:
        """Split the user's columns into data columns and partition columns, which the paths have."""
        from pyspark.sql.types import StructType

        from lakeward.autoloader.schema import ResolvedSchema
        from lakeward.autoloader.schema.schema_resolution import infer_partition_schema

        partitions = infer_partition_schema(self._below(files[:1]), self.options, schema)
        data = [field for field in schema.fields if field.name != rescue.name]
        return ResolvedSchema(StructType(data), partitions, "none", None)

    def frame(
        self,
        spark: SparkSession,
        files: Sequence[FileStatus],
        columns: ResolvedSchema,
        *,
        rescue: Rescue,
        user_schema: StructType | None = None,
        skipped: Path | None = None,
    ) -> DataFrame:
        """Return the rows of `files`, with the hidden column `_metadata`.

        Args:
            spark: The session.
            files: The files to read.
            columns: Their data and partition columns.
            rescue: The rescued data column.
            user_schema: The user's schema, which fixes the order of columns.
            skipped: Directory for markers of skipped files.
        """
        from pyspark.sql.types import StructType

        from lakeward.autoloader.data_sources import FILE_LIST_OPTION, FileListDataSource
        from lakeward.autoloader.metadata_column import hide_metadata, raw_metadata_field
        from lakeward.autoloader.pyspark_patches import register_data_source
        from lakeward.autoloader.streams.stream_definition import create_read_plan, output_columns

        plan = create_read_plan(
            *(spark, self.options, self.names, self.source, columns),
            rescued=rescue.name,
            user_schema=user_schema,
            handoff_dir=handoff_directory(),
        )
        plan = replace(plan, skipped=None if skipped is None else str(skipped))
        listed = handoff_directory() / f"{plan.token}.files"
        listed.write_text(json.dumps(list(files)), encoding="utf-8", errors="surrogateescape")
        shown = output_columns(columns, plan.rescued, user_schema)
        own_metadata = METADATA in shown.names
        metadata = [] if own_metadata else [raw_metadata_field()]
        register_data_source(spark, FileListDataSource)
        reader: Any = spark.read.format(FileListDataSource.name()).schema(
            StructType([*shown.fields, *metadata])
        )
        raw = reader.option(PLAN_OPTION, plan.as_json()).option(FILE_LIST_OPTION, str(listed)).load()
        return raw if own_metadata else hide_metadata(raw, shown.names)

    def _below(self, files: Sequence[FileStatus]) -> list[str]:
        root = self.names.key(self.lister.root)
        return [status.key[len(root) :] for status in files]


def detect_format(files: Sequence[FileStatus], shown: str) -> str:
    """Return the format implied by all file names; raise CF_UNABLE_TO_DETECT_FILE_FORMAT."""
    detected = {_EXTENSIONS.get(_extension(status.key), "") for status in files}
    if len(detected) == 1 and (name := detected.pop()):
        return name
    formats = ", ".join(sorted(name for name in detected if name)) or "none"
    raise CloudFilesError(
        "CF_UNABLE_TO_DETECT_FILE_FORMAT",
        f"The format of the files in {shown} is ambiguous; file names imply: {formats}.",
        next_step="Set the format: format => 'json'.",
    )


def _extension(key: str) -> str:
    name = key.rpartition("/")[2].lower()
    for packed in _COMPRESSION_SUFFIXES:
        name = name.removesuffix(packed)
    return name.rpartition(".")[2]
