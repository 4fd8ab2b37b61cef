"""Plans which files of a micro-batch Spark's own readers read, in the JVM (AutoLoaderScan.java).

`scan_layout` decides at `load` whether a stream can have such files. The Python source then checks each file
of a batch (`scan_check`) and gives the files that qualify to Spark, in parts of similar size.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import InputPartition

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.read_plan import (
    METADATA,
    ReadPlan,
    distribute,
    divide,
    encode_file_metadata,
    part_size,
)
from lakeward.spark_internals import frame_from_java, java_frame, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

    from lakeward.autoloader.readers.batch_builder import BatchBuilder

# Opening a small file costs Spark's readers more than the Python readers (measured in docs/decisions.md, C1).
MIN_MEAN_BYTES = {"parquet": 32 * 1024, "avro": 4 * 1024}
# Large files are split, so that all cores take part.
MAX_PART_BYTES = 128 * 1024 * 1024

_FLAGS = ("ignoreCorruptFiles", "ignoreMissingFiles")
_TEXTS = ("badRecordsPath", "avroSchema", "singleVariantColumn")
_CONSTANTS = ("string", "boolean", "double", "integer", "date", "long", "timestamp", "timestamp_ntz")
_PLAIN = {"boolean", "byte", "short", "integer", "long", "float", "double", "decimal", "binary"}
_PLAIN |= {"date", "timestamp", "timestamp_ntz"}
# Settings that change what Spark's readers return, with the value for which both readers agree.
_SETTINGS = {
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
}


def plan_scans(
    spark: SparkSession, plan: ReadPlan, output: StructType
) -> tuple[ReadPlan, dict[str, Any] | None]:
    """Return the plan, and the layout if Spark's readers may read files of the stream (`scan_layout`)."""
    layout = scan_layout(spark, plan, output)
    if layout is None or not _has_scan(spark):
        return plan, None
    return replace(plan, scan_bytes=MIN_MEAN_BYTES[plan.format], any_name=_reads_any_name(spark)), layout


def read_with_scans(stream: DataFrame, layout: dict[str, Any] | None) -> DataFrame:
    """Return the stream with the table that reads files in the JVM; unchanged without a layout."""
    if layout is None:
        return stream
    spark = stream.sparkSession
    table = jvm_view(spark).lakeward.AutoLoaderTable
    return frame_from_java(table.over(java_frame(stream), json.dumps(layout)), spark)


def _has_scan(spark: SparkSession) -> bool:
    """Return whether the JVM has lakeward's classes; a session that the user has built may lack them."""
    return str(spark.conf.get("spark.sql.extensions", "")).find("lakeward.Extension") >= 0


def scan_layout(spark: SparkSession, plan: ReadPlan, output: StructType) -> dict[str, Any] | None:
    """Return the format, the columns of the files, those that are constant for a file, and texts of errors.

    None if the Python readers read all files: for other formats, options that only they support, and columns
    that Spark's readers return differently.

    Args:
        spark: The session.
        plan: The read plan of the stream.
        output: All columns of the stream, with the raw `_metadata` if it is hidden.
    """
    options = plan.user_options
    if plan.format not in MIN_MEAN_BYTES or any(map(options.flag, _FLAGS)):
        return None
    if any(map(options.text, _TEXTS)):
        return None
    if any(str(spark.conf.get(key, value)).lower() != value for key, value in _SETTINGS.items()):
        return None
    special = {plan.rescued, plan.corrupt, *plan.partitions}
    own = [name for name in plan.data_schema().names if name not in special]
    data = [field for field in output.fields if field.name in own]
    constants = [field for field in output.fields if field.name not in own]
    lower = {name.lower() for name in output.names}
    if not data or len(data) < len(own) or len(lower) < len(output.names):
        return None
    if "parquet.field.id" in output.json():
        return None
    if not all(field.nullable and _is_plain(field.dataType) for field in output.fields):
        return None
    if not all(field.dataType.typeName() in _CONSTANTS for field in constants):
        return None
    return {
        "format": plan.format,
        "data": [field.name for field in data],
        "constants": [field.name for field in constants],
        "errors": _error_texts(),
    }


def _error_texts() -> dict[str, str]:
    """Return the errors of the Python readers, as Python prints them, for `{file}` and `{reason}`."""
    from lakeward.autoloader.readers import file_contents

    errors = {
        "missing": file_contents.missing_file_error("{file}"),
        "corrupt": file_contents.corrupt_file_error("{file}", "{reason}"),
        "changed": file_contents.changed_file_error("{file}"),
    }
    return {
        kind: f"{type(error).__module__}.{type(error).__name__}: {error}" for kind, error in errors.items()
    }


def _is_plain(dtype: DataType) -> bool:
    """Return whether a type allows null in all places and has plain parts only."""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    if isinstance(dtype, StructType):
        return all(field.nullable and _is_plain(field.dataType) for field in dtype.fields)
    if isinstance(dtype, ArrayType):
        return dtype.containsNull and _is_plain(dtype.elementType)
    if isinstance(dtype, MapType):
        return dtype.valueContainsNull and _is_plain(dtype.keyType) and _is_plain(dtype.valueType)
    # Strings may have a collation or a length.
    return dtype == StringType() if isinstance(dtype, StringType) else dtype.typeName() in _PLAIN


def _reads_any_name(spark: SparkSession) -> bool:
    """Return whether Java opens files with names that are not ASCII; in the locale `C` it does not."""
    return str(jvm_view(spark).java.lang.System.getProperty("sun.jnu.encoding")).upper() == "UTF-8"


class ScanPartition(InputPartition):
    """Parts of files for Spark's readers.

    Java unpickles it (AutoLoaderScan.Partition): `parts` are tuples of path, shown name, start, length, size
    and time of the file, and the values of the constants. Times are in milliseconds.
    """

    def __init__(self, parts: list[tuple[Any, ...]]) -> None:
        self.parts = parts


class ScanPlanner:
    """Separates the files of a batch that Spark's readers read from the others."""

    def __init__(self, builder: BatchBuilder, *, metadata: bool) -> None:
        from lakeward.autoloader.readers.scan_check import create_scan_check

        self._builder = builder
        self._plan = builder.plan
        self._metadata = metadata
        self._check = create_scan_check(builder)
        self._constants = [field for field in builder.schema.fields if field.name not in builder.data]

    def plan(self, files: Sequence[FileStatus]) -> tuple[list[ScanPartition], list[FileStatus]]:
        """Return the partitions of files that qualify, and the remaining files in order."""
        total = sum(status.size for status in files)
        least = self._plan.scan_bytes
        if not files or least is None or total < least * len(files):
            return [], list(files)
        stamps = [self._stamp(status) for status in files]
        chosen = [(status, stamp) for status, stamp in zip(files, stamps, strict=True) if stamp is not None]
        rest = [status for status, stamp in zip(files, stamps, strict=True) if stamp is None]
        return self._partitions(chosen), rest

    def _stamp(self, status: FileStatus) -> tuple[int, int] | None:
        """Return size and time of a file that qualifies, taken before its check; None for other files."""
        if "://" in status.path or not self._is_readable_name(status.path) or not _is_text(status.key):
            return None
        try:
            found = os.stat(status.path)  # noqa: PTH116  # twice as fast
        except OSError:
            return None
        stamp = found.st_size, found.st_mtime_ns // 1_000_000
        return stamp if self._check.qualifies(status.path) else None

    def _is_readable_name(self, path: str) -> bool:
        return _is_text(path) if self._plan.any_name else path.isascii()

    def _partitions(self, chosen: Sequence[tuple[FileStatus, tuple[int, int]]]) -> list[ScanPartition]:
        limit = part_size((size for _, (size, _) in chosen), self._plan.parallelism, MAX_PART_BYTES)
        columns = self._constant_values([status for status, _ in chosen])
        parts: list[tuple[Any, ...]] = []
        for (status, (size, modified)), values in zip(chosen, columns, strict=True):
            shown = FileNames.encode(status.key)
            parts += [
                (status.path, shown, start, end - start, size, modified, values)
                for start, end in divide(size, limit)
            ]
        groups = distribute([part[3] for part in parts], self._plan.parallelism)
        return [ScanPartition([parts[index] for index in group]) for group in groups]

    def _constant_values(self, files: list[FileStatus]) -> list[tuple[Any, ...]]:
        """Return the values of the constant columns for each file, as Spark stores them."""
        columns = [self._values(field.name, files) for field in self._constants]
        return [tuple(column[number] for column in columns) for number in range(len(files))]

    def _values(self, name: str, files: list[FileStatus]) -> list[Any]:
        import pyarrow as pa

        if name in (self._plan.rescued, self._plan.corrupt):
            return [None] * len(files)
        if name in self._plan.partitions:
            array = self._builder.partition_values(name, [(status, 1) for status in files])
            if pa.types.is_date32(array.type):
                array = array.cast(pa.int32())
            elif pa.types.is_timestamp(array.type):
                array = array.cast(pa.int64())
            return list(array.to_pylist())
        if name == METADATA and self._metadata:
            return [encode_file_metadata(status) for status in files]
        return [None] * len(files)


def _is_text(name: str) -> bool:
    """Return whether a file name is valid Unicode, which Java's names are."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
