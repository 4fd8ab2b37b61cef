"""Columns of a stream at its definition: given, stored in a schema location, or inferred (AL-2, AL-5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pyspark.sql.types import DataType, StructType

from lakeward.autoloader.discovery.file_listing import FileLister, FileStatus
from lakeward.autoloader.options.option_parsing import parse_bytes, parse_int
from lakeward.autoloader.options.option_validation import require_format_options
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.options.schema_options import evolution_mode, has_fixed_schema, rescued_column
from lakeward.autoloader.read_plan import reads_nanos_as_long
from lakeward.autoloader.schema.partition_columns import infer_partition_schema
from lakeward.autoloader.schema.schema_inference import fixed_schema, infer_schema, sample_files
from lakeward.autoloader.schema.schema_store import SchemaStore, SchemaVersion
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_SAMPLE = "spark.databricks.cloudFiles.schemaInference.sampleSize"


@dataclass(frozen=True)
class ResolvedSchema:
    """Data columns (without rescued and partition columns), partition columns, evolution mode, location."""

    data: StructType
    partitions: StructType
    mode: str
    location: str | None


def resolve_schema(
    spark: SparkSession,
    options: Options,
    lister: FileLister,
    *,
    user_schema: StructType | None,
    location: str | None,
) -> ResolvedSchema:
    """Return the columns of a source; raise CloudFilesError if they cannot be inferred.

    Args:
        spark: The session, for the sampling settings.
        options: The options of the stream.
        lister: The lister of the source.
        user_schema: The schema of `.schema(…)`.
        location: The schema location as a local path.
    """
    mode = evolution_mode(options, has_user_schema=user_schema is not None)
    if user_schema is not None:
        return _resolve_user_schema(options, lister, user_schema, mode, location)

    if location is None and mode.startswith("addNewColumns"):
        raise CloudFilesError(
            "CF_SCHEMA_LOCATION_REQUIRED",
            f"Schema inference in mode {mode} requires cloudFiles.schemaLocation, which is not set.",
            next_step="Set it to a directory, such as the checkpoint's, or set a schema with .schema(…).",
        )
    store = SchemaStore(location) if location else None
    stored = store.latest() if store else None
    data, partitions = apply_hints_option(options, stored or _infer_version(spark, options, lister))
    if store is not None and stored != (data, partitions):
        data, partitions = _store_version(store, (data, partitions), first=stored is None)
    return ResolvedSchema(data, partitions, mode, location)


def _resolve_user_schema(
    options: Options, lister: FileLister, user_schema: StructType, mode: str, location: str | None
) -> ResolvedSchema:
    partitions = infer_partition_schema(list(islice(lister.relative_paths(), 1)), options, user_schema)
    rescued = rescued_column(options, has_user_schema=True)
    data = [field for field in user_schema.fields if field.name != rescued]
    return ResolvedSchema(StructType(data), partitions, mode, location)


def _infer_version(spark: SparkSession, options: Options, lister: FileLister) -> SchemaVersion:
    try:
        files: list[FileStatus] = lister.list_new(lambda _: False)
    except FileNotFoundError:
        files = []

    def sample() -> list[FileStatus]:
        max_files = parse_int(str(spark.conf.get(f"{_SAMPLE}.numFiles", "1000")))
        max_bytes = parse_bytes(str(spark.conf.get(f"{_SAMPLE}.numBytes", "50gb")))
        return sample_files(files, max_files=max_files, max_bytes=max_bytes)

    return infer_version(
        options, lister, files, sample, is_batch=False, nanos_as_long=reads_nanos_as_long(spark)
    )


def infer_version(
    options: Options,
    lister: FileLister,
    files: Sequence[FileStatus],
    sample: Callable[[], Sequence[FileStatus]],
    *,
    is_batch: bool,
    nanos_as_long: bool,
    adds_corrupt: bool = False,
) -> SchemaVersion:
    """Infer the partition columns of `files`, and their data columns from those that `sample` returns.

    In a batch ORC files are read, too, and a column that files and paths have is that of the paths.

    Args:
        options: The options of the source.
        lister: The lister of the source.
        files: The files of the source.
        sample: Returns the files that are read.
        is_batch: Whether a batch reads them.
        nanos_as_long: Whether timestamps of Parquet in nanoseconds are BIGINT.
        adds_corrupt: Whether malformed JSON records get a column.

    Raises:
        CloudFilesError: Nothing can be inferred.
    """
    require_format_options(options)
    root = lister.names.key(lister.root)
    partitions = infer_partition_schema([status.key[len(root) :] for status in files], options, None)
    if has_fixed_schema(options):
        return fixed_schema(options), partitions
    if not files:
        raise CloudFilesError(
            "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE",
            f"Cannot infer schema when the input path {lister.names.key(lister.source)} is empty.",
            next_step="Add files, or set the columns with `schema`."
            if is_batch
            else "Start the stream after files have arrived, or set a schema with .schema(…).",
        )
    data = infer_schema(
        list(sample()), options, also_orc=is_batch, adds_corrupt=adds_corrupt, nanos_as_long=nanos_as_long
    )
    if not is_batch:
        _reject_duplicate_columns(options, data, partitions)
    return StructType([field for field in data.fields if field.name not in partitions.names]), partitions


def _reject_duplicate_columns(options: Options, data: StructType, partitions: StructType) -> None:
    """Raise for columns in both files and paths, unless `partitionColumns` is set."""
    both = [name for name in partitions.names if name in data.names]
    if both and not options.is_set("cloudFiles.partitionColumns"):
        raise CloudFilesError(
            "CF_DUPLICATE_COLUMN_IN_DATA",
            f"Columns exist both in the files and in their paths: {', '.join(both)}.",
            next_step="Set cloudFiles.partitionColumns to the columns to read from paths, '' for none.",
        )


def apply_hints_option(options: Options, version: SchemaVersion) -> SchemaVersion:
    """Apply `schemaHints` to data and partition columns."""
    from lakeward.autoloader.options.schema_hints import apply_hints, parse_hints

    text = options.text("cloudFiles.schemaHints")
    if not text:
        return version
    hints = parse_hints(text, parse_hint_type)
    data, partitions = version
    in_paths = {name.lower() for name in partitions.names}
    own = {path[0].lower(): dtype for path, dtype in hints if len(path) == 1}
    kept = StructType()
    for field in partitions.fields:
        kept = kept.add(field.name, own.get(field.name.lower(), field.dataType))
    return apply_hints(data, [hint for hint in hints if hint[0][0].lower() not in in_paths]), kept


def parse_hint_type(text: str) -> DataType:
    """Parse the type of a hint."""
    from pyspark.sql.types import _parse_datatype_string

    parsed = _parse_datatype_string(f"struct<x: {text}>")
    assert isinstance(parsed, StructType)
    return parsed["x"].dataType


def _store_version(store: SchemaStore, version: SchemaVersion, *, first: bool) -> SchemaVersion:
    """Store a version; if another stream was first, use its version."""
    if not store.add(version) and first:
        return store.latest() or version
    return version
