"""Columns of a stream at its definition: given, stored in a schema location, or inferred (AL-2, AL-5.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyspark.sql.types import (
    BinaryType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
)

from lakeward.atomic_files import atomic_create
from lakeward.autoloader.discovery.file_listing import (
    FileLister,
    FileNames,
    FileStatus,
    parse_partition_values,
    partition_value,
)
from lakeward.autoloader.options.option_parsing import parse_bytes, parse_int
from lakeward.autoloader.options.option_validation import require_format_options
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.options.schema_options import evolution_mode, has_fixed_schema, rescued_column
from lakeward.autoloader.schema.partition_inference import infer_partition_type
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_HEAD = "v1"
SchemaVersion = tuple[StructType, StructType]


class SchemaStore:
    """The schema versions of one location, with data and partition columns.

    `<schemaLocation>/_schemas/<n>` holds a version; the highest number is current (AL-2.4). Its file is a
    version line and one JSON object, so that users can read, compare and edit it (assumed).
    """

    def __init__(self, location: str) -> None:
        if "://" in location:
            raise CloudFilesError(
                "CF_UNSUPPORTED_SCHEMA_LOCATION",
                f"cloudFiles.schemaLocation is {location}, which is not on a local disk.",
                next_step="Use a local or mounted directory.",
            )
        self._folder = Path(location) / "_schemas"
        self._seen: int | None = None

    def numbers(self) -> list[int]:
        """Return existing versions, oldest first."""
        if not self._folder.is_dir():
            return []
        return sorted(int(entry.name) for entry in self._folder.iterdir() if entry.name.isdigit())

    def latest(self) -> SchemaVersion | None:
        """Return the latest version, None before the first; raise CF_INVALID_STORED_SCHEMA."""
        self._seen = self._last_number()
        if self._seen < 0:
            return None
        path = self._folder / str(self._seen)
        try:
            head, body = path.read_text("utf-8").split("\n", 1)
            kept = json.loads(body)
            if head != _HEAD:
                raise ValueError(head)
            return (
                StructType.fromJson(json.loads(kept["dataSchemaJson"])),
                StructType.fromJson(json.loads(kept["partitionSchemaJson"])),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise CloudFilesError(
                "CF_INVALID_STORED_SCHEMA",
                f"The schema version {path} is invalid: {error}.",
                next_step="Delete the file to restore the previous version, or the directory to infer again.",
            ) from None

    def add(self, version: SchemaVersion) -> bool:
        """Add the version after the one that `latest` has returned, atomically.

        Returns False if another writer was first: its version is what the next one must grow from.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        number = (self._last_number() if self._seen is None else self._seen) + 1
        data, partitions = version
        body = {"dataSchemaJson": data.json(), "partitionSchemaJson": partitions.json()}
        text = f"{_HEAD}\n{json.dumps(body, ensure_ascii=False)}\n"
        added = atomic_create(self._folder / str(number), text, synced=True)
        if added and self._seen is not None:
            self._seen = number
        return added

    def _last_number(self) -> int:
        return max(self.numbers(), default=-1)


def fixed_schema(options: Options) -> StructType:
    """Return the data columns of text, binaryFile, and single VARIANT columns."""
    variant = options.text("singleVariantColumn")
    if variant:
        return StructType().add(variant, VariantType())
    if options.format == "text":
        return StructType().add("value", StringType())
    columns = StructType().add("path", StringType()).add("modificationTime", TimestampType())
    return columns.add("length", LongType()).add("content", BinaryType())


def infer_partition_schema(
    below: Sequence[str], options: Options, user_schema: StructType | None
) -> StructType:
    """Return the partition columns of files with these relative paths.

    With a user schema these are its columns that are partition keys, in any case of their names. Files with
    different layouts have none.
    """
    configured = options.value("cloudFiles.partitionColumns")
    if configured is not None:
        names = list(configured)
    elif options.flag("recursiveFileLookup"):
        names = []
    else:
        layouts = {tuple(parse_partition_values(path)) for path in below}
        names = list(layouts.pop()) if len(layouts) == 1 else []
    if user_schema is not None:
        known = {name.lower() for name in user_schema.names}
        if missing := [name for name in configured or () if name.lower() not in known]:
            raise CloudFilesError(
                "CF_MISSING_PARTITION_COLUMN_ERROR",
                f"Partition column {missing[0]} of cloudFiles.partitionColumns is not in the schema: "
                f"{', '.join(user_schema.names)}.",
                next_step="Add it to the schema, or remove it from cloudFiles.partitionColumns.",
            )
        in_paths = {name.lower() for name in names}
        return StructType([field for field in user_schema.fields if field.name.lower() in in_paths])
    return StructType(
        [
            StructField(name, infer_partition_type(partition_value(path, name) for path in below))
            for name in names
        ]
    )


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
    from pyspark.sql.types import StructType

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
    from pyspark.sql.types import StructType

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


class Inference(Protocol):
    """Schema inference of a format."""

    def add(self, data: bytes) -> str | None:
        """Add the content of a file. Return why it cannot be read, where the format tells."""

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


def reads_nanos_as_long(spark: SparkSession) -> bool:
    """Return whether the session reads timestamps of Parquet in nanoseconds as BIGINT."""
    from lakeward.autoloader.readers.parquet import NANOS_AS_LONG

    return str(spark.conf.get(NANOS_AS_LONG)).lower() == "true"


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
