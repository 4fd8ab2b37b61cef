"""Which columns a stream has when it is defined (auto-loader.md §2.1, §2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery import FileStatus, Lister
from lakeward.autoloader.options import Options
from lakeward.autoloader.options.checks import evolution_mode, has_fixed_schema, needed
from lakeward.autoloader.options.values import as_bytes, as_int
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema.store import SchemaStore, Version

__all__ = ["Resolved", "hinted", "resolve"]

_SAMPLE = "spark.databricks.cloudFiles.schemaInference.sampleSize"


@dataclass(frozen=True)
class Resolved:
    """`data` without rescued and partition columns; `location` is where versions are kept, if anywhere."""

    data: StructType
    partitions: StructType
    mode: str
    location: str | None


def resolve(
    spark: SparkSession, options: Options, lister: Lister, *, given: StructType | None, location: str | None
) -> Resolved:
    """The columns. Raises CloudFilesError where there is nothing to infer them from."""
    mode = evolution_mode(options, given_schema=given is not None)
    if given is not None:
        return _given(options, lister, given, mode, location)
    from lakeward.autoloader.schema.store import SchemaStore

    if location is None and mode.startswith("addNewColumns"):
        raise CloudFilesError(
            "CF_SCHEMA_LOCATION_REQUIRED",
            f"The schema is to be inferred and to evolve ({mode}); cloudFiles.schemaLocation is not set.",
            next_step="Set it to a folder (the checkpoint's will do), or give a schema with .schema(…).",
        )
    store = SchemaStore(location) if location else None
    stored = store.latest() if store else None
    data, partitions = hinted(options, stored or _inferred(spark, options, lister))
    if store is not None and stored != (data, partitions):
        data, partitions = _kept(store, (data, partitions), first=stored is None)
    return Resolved(data, partitions, mode, location)


def _given(options: Options, lister: Lister, given: StructType, mode: str, location: str | None) -> Resolved:
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema.partitions import partition_schema

    partitions = partition_schema(list(islice(lister.below(), 1)), options, given)
    rescued = options.rescued_column or ("_rescued_data" if mode == "rescue" else None)
    data = [field for field in given.fields if field.name != rescued]
    return Resolved(StructType(data), partitions, mode, location)


def _inferred(spark: SparkSession, options: Options, lister: Lister) -> Version:
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema.fixed import fixed_schema
    from lakeward.autoloader.schema.partitions import partition_schema
    from lakeward.autoloader.schema.sampling import infer_files, sample

    needed(options)
    try:
        files: list[FileStatus] = lister.new(lambda _: False)
    except FileNotFoundError:
        files = []
    root = lister.names.key(lister.root)
    partitions = partition_schema([status.key[len(root) :] for status in files], options, None)
    if has_fixed_schema(options):
        return fixed_schema(options), partitions
    if not files:
        raise CloudFilesError(
            "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE",
            f"Cannot infer schema when the input path {lister.names.key(lister.source)} is empty.",
            next_step="Start the stream when there are files in it, or give a schema with .schema(…).",
        )
    max_files = as_int(str(spark.conf.get(f"{_SAMPLE}.numFiles", "1000")))
    max_bytes = as_bytes(str(spark.conf.get(f"{_SAMPLE}.numBytes", "50gb")))
    data = infer_files(sample(files, max_files=max_files, max_bytes=max_bytes), options)
    _no_doubles(options, data, partitions)
    return StructType([field for field in data.fields if field.name not in partitions.names]), partitions


def _no_doubles(options: Options, data: StructType, partitions: StructType) -> None:
    """A column that both the files and their paths have is refused, unless the paths' were asked for."""
    both = [name for name in partitions.names if name in data.names]
    if both and not options.is_set("cloudFiles.partitionColumns"):
        raise CloudFilesError(
            "CF_DUPLICATE_COLUMN_IN_DATA",
            f"Columns stand both in the files and in their paths: {', '.join(both)}.",
            next_step="Set cloudFiles.partitionColumns to those to be taken from the paths, '' for none.",
        )


def hinted(options: Options, version: Version) -> Version:
    """Data and partition columns with `schemaHints` applied."""
    from pyspark.sql.types import StructType, _parse_datatype_string

    from lakeward.autoloader.schema.hints import apply_hints, parse_hints

    text = options.text("cloudFiles.schemaHints")
    if not text:
        return version
    hints = parse_hints(text, lambda t: _parse_datatype_string(f"struct<x: {t}>")["x"].dataType)  # type: ignore[index]
    data, partitions = version
    own = {path[0]: dtype for path, dtype in hints if len(path) == 1}
    typed = [(f.name, own.get(f.name, f.dataType)) for f in partitions.fields]
    rest = [hint for hint in hints if hint[0][0] not in partitions.names]
    kept = StructType()
    for name, dtype in typed:
        kept = kept.add(name, dtype)
    return apply_hints(data, rest), kept


def _kept(store: SchemaStore, version: Version, *, first: bool) -> Version:
    """Store a version; where another stream was first, its first version counts."""
    if not store.add(version) and first:
        return store.latest() or version
    return version
