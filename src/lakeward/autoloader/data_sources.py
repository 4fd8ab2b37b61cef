"""The Python data sources: `cloudFiles` for streams, and a file list for batches.

Spark pickles these classes to its planner and worker processes by reference. Heavy imports are deferred to
the functions that need them.
"""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from lakeward.autoloader.discovery.file_listing import COMPRESSED_SUFFIXES, FileStatus
from lakeward.autoloader.discovery.storage import open_storage
from lakeward.autoloader.read_plan import (
    MAX_PARTITION_BYTES,
    PLAN_OPTION,
    ReadPlan,
    claim_checkpoint,
    distribute,
    divide,
    part_size,
)

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakeward.autoloader.readers.batch_builder import BatchBuilder
    from lakeward.autoloader.state.skipped_files import SkippedFiles
    from lakeward.autoloader.streams.file_tracker import FileTracker
    from lakeward.autoloader.streams.source_cleaning import SourceCleaner


def plan_partitions(files: Sequence[FileStatus], plan: ReadPlan) -> list[list[FileStatus]]:
    """Group files, or parts of large ones, into partitions of similar cost, each in the order of `files`."""
    parts = split_files(files, plan)
    sizes = [status.size if (part := status.part) is None else part[1] - part[0] for status in parts]
    return [[parts[index] for index in group] for group in distribute(sizes, plan.parallelism)]


def split_files(files: Sequence[FileStatus], plan: ReadPlan) -> list[FileStatus]:
    """Divide files of lines that are larger than the share of one task.

    A file that is no longer the discovered one is read as a whole.
    """
    limit = part_size((status.size for status in files), plan.parallelism, MAX_PARTITION_BYTES)
    if all(status.size <= limit for status in files) or not _has_lines(plan):
        return list(files)
    parts: list[FileStatus] = []
    for status in files:
        is_whole = status.size <= limit or status.path.endswith(COMPRESSED_SUFFIXES)
        if is_whole or not _is_unchanged(status):
            parts.append(status)
        else:
            parts += [status._replace(part=each) for each in divide(status.size, limit)]
    return parts


def _has_lines(plan: ReadPlan) -> bool:
    """Return whether each line of a file is read for itself, and lines end in a newline."""
    options = plan.user_options
    # Missing files are recorded below `badRecordsPath`, once each.
    if plan.format != "json" or options.flag("multiLine") or options.text("badRecordsPath"):
        return False
    from lakeward.autoloader.readers.json_text import JsonText

    text = JsonText.of(options)
    return text.encoding == "utf-8" and text.separator is None


def _is_unchanged(status: FileStatus) -> bool:
    try:
        found = open_storage(status.path).stat(status.path, fresh=True)
    except OSError:
        return False
    return found == (status.size, status.mtime)


class FilesPartition(InputPartition):
    """The files of one task.

    `batch` locates the batch's files in the state log (state directory, from, to). `metadata` is whether the
    query references `_metadata`.
    """

    def __init__(self, files: list[FileStatus], batch: tuple[str, int, int], *, metadata: bool) -> None:
        self.files = files
        self.batch = batch
        self.metadata = metadata


class CloudFilesDataSource(DataSource):
    """`format("cloudFiles")`; `load` has determined its schema and plan."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`, which is case-insensitive."""
        return "cloudFiles"

    def schema(self) -> StructType:
        """Raise CF_INCORRECT_STREAM_USAGE: `load` always passes a schema, so Spark never calls this."""
        from lakeward.autoloader.error_translation import unsupported_usage_error

        raise unsupported_usage_error()

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002  # as PySpark calls it
        """Raise CF_INCORRECT_BATCH_USAGE."""
        from lakeward.autoloader.error_translation import batch_usage_error

        raise batch_usage_error()

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  # as PySpark names it
        """Return the reader. Spark passes `schema` by name."""
        return CloudFilesStreamReader(self.options[PLAN_OPTION], schema)


class CloudFilesStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans offsets and partitions on the driver and reads files in the workers."""

    def __init__(self, plan: str, schema: StructType) -> None:
        self._plan_text = plan
        self._schema = schema
        self._plan: ReadPlan | None = None
        self._tracker: FileTracker | None = None
        self._state = ""
        self._metadata = True

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None, "_tracker": None}

    @property
    def plan(self) -> ReadPlan:
        """Return the read plan."""
        if self._plan is None:
            self._plan = ReadPlan.from_json(self._plan_text)
        return self._plan

    @property
    def tracker(self) -> FileTracker:
        """Return the file tracker, created on first use, when the checkpoint is known."""
        if self._tracker is None:
            binding = claim_checkpoint(Path(self.plan.handoff_dir), self.plan.token)
            self._state, self._metadata = binding.state, binding.metadata
            self._tracker = _create_tracker(self.plan, Path(self._state))
        return self._tracker

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  # as PySpark names it
        """Return the offset of a new stream."""
        return dict(self.tracker.initial_offset())

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # as PySpark names it
        """Return the hard limit of files; the tracker applies the soft limit of bytes."""
        return ReadMaxFiles(self.plan.user_options.max_files)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802  # as PySpark names it
        """Assign the next files to a batch; with trigger `once` all files."""
        limited = not isinstance(limit, ReadAllAvailable)
        return dict(self.tracker.latest(start, limited=limited))  # type: ignore[arg-type]

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802  # as PySpark names it
        """Return the backlog; the latest offset is the only path into the query's progress."""
        backlog = self.tracker.backlog
        return {"numFilesOutstanding": len(backlog), "numBytesOutstanding": backlog.bytes}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # as PySpark names it
        """Leave files that arrive from now on to the next run."""
        self.tracker.prepare_available_now()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return the files of the batch, in about as many groups as there are cores.

        Files that qualify for Spark's own readers are in partitions of their own.
        """
        files = self.tracker.files(start, end)  # type: ignore[arg-type]
        batch = (self._state, start["seqNum"], end["seqNum"])
        scans, files = self._plan_scans(files)
        parts = plan_partitions(files, self.plan)
        return [*scans, *(FilesPartition(group, batch, metadata=self._metadata) for group in parts)]

    def _plan_scans(self, files: list[FileStatus]) -> tuple[list[Any], list[FileStatus]]:
        if self.plan.scan_bytes is None:
            return [], files
        from lakeward.autoloader.readers.batch_builder import BatchBuilder
        from lakeward.autoloader.state.state_log import StateLog
        from lakeward.autoloader.streams.scan_planning import ScanPlanner

        planner = ScanPlanner(BatchBuilder.of(self.plan, self._schema), metadata=self._metadata)
        scans, rest = planner.plan(files)
        if scans:
            remaining = {status.key for status in rest}
            StateLog(Path(self._state)).skips.unmark(f.key for f in files if f.key not in remaining)
        return scans, rest

    def read(self, partition: InputPartition) -> Iterator[RecordBatch]:
        """Return Arrow batches of these files. Runs in a worker."""
        from lakeward.autoloader.state.state_log import StateLog

        assert isinstance(partition, FilesPartition)
        skips = StateLog(Path(partition.batch[0])).skips
        plan = replace(self.plan, skipped=str(skips.folder), metadata=partition.metadata)
        return read_batch_files(plan, self._schema, partition.files, partition.batch)


def read_batch_files(
    plan: ReadPlan, schema: StructType, files: list[FileStatus], batch: tuple[str, int, int]
) -> Iterator[RecordBatch]:
    """Read files of a micro-batch; if they have new fields, evolve the stored schema and fail the stream.

    Args:
        plan: The read plan of the stream.
        schema: The columns of the record batches.
        files: The files of one task.
        batch: State directory and offsets (exclusive, inclusive) of the micro-batch.

    Raises:
        CloudFilesError: A file cannot be read.
        UnknownFieldException: The schema has to grow; the next version is stored.
    """
    from lakeward.autoloader.readers.new_fields import NewFieldsError

    try:
        yield from read_task_files(plan, schema, files)
    except NewFieldsError as drift:
        from lakeward.autoloader.schema.schema_evolution import evolve_schema

        raise evolve_schema(plan, drift, batch) from None


def read_task_files(plan: ReadPlan, schema: StructType, files: list[FileStatus]) -> Iterator[RecordBatch]:
    """Read the files of one task as record batches of `schema`.

    Raises CloudFilesError for files that cannot be read, NewFieldsError if the schema must grow first.
    """
    from lakeward.autoloader.readers.batch_builder import BatchBuilder
    from lakeward.autoloader.state.skipped_files import SkippedFiles

    builder = BatchBuilder.of(plan, schema)
    skips = SkippedFiles(Path(plan.skipped)) if plan.skipped else None
    if skips is not None:
        skips.unmark(status.key for status in files)
    yield from _create_reader(builder, skips).read(files)


class FormatReader(Protocol):
    """A reader of one format."""

    def read(self, files: list[FileStatus]) -> Iterator[RecordBatch]:
        """Yield record batches; raise CloudFilesError or NewFieldsError."""


# The readers of formats below `readers`; all other formats have columns. Imported on first use.
_READERS = {
    "json": "json_reader:JsonReader",
    "csv": "csv_reader:CsvReader",
    "excel": "excel_reader:ExcelReader",
    "xml": "xml_reader:XmlReader",
    "text": "raw_files:TextReader",
    "binaryfile": "raw_files:BinaryReader",
}


def _create_reader(builder: BatchBuilder, skips: SkippedFiles | None) -> FormatReader:
    from lakeward.autoloader.readers.file_contents import FileContents
    from lakeward.autoloader.readers.malformed_records import BadRecordsWriter

    name = _READERS.get(builder.plan.format, "columnar:ColumnarReader")
    if builder.options.text("singleVariantColumn"):
        name = "variant_reader:VariantReader"
    module, _, reader = name.partition(":")
    create = getattr(importlib.import_module(f"lakeward.autoloader.readers.{module}"), reader)
    contents = FileContents(builder.options, BadRecordsWriter.of(builder), skips)
    return cast("FormatReader", create(builder, contents))


def _create_tracker(plan: ReadPlan, state: Path) -> FileTracker:
    from lakeward.autoloader.state.state_log import StateLog
    from lakeward.autoloader.streams.file_registry import FileRegistry
    from lakeward.autoloader.streams.file_tracker import FileTracker

    options = plan.user_options
    registry = FileRegistry(StateLog(state), versions=options.flag("cloudFiles.allowOverwrites"))
    cleaner = _create_cleaner(plan) if options.cleans_source else None
    return FileTracker(registry, plan.lister(), options, cleaner=cleaner)


def _create_cleaner(plan: ReadPlan) -> SourceCleaner | None:
    from lakeward.autoloader.streams.source_cleaning import SourceCleaner, cleaning_policy

    policy = cleaning_policy(plan.user_options, plan.source, plan.names)
    return SourceCleaner(policy) if policy is not None else None


FILE_LIST_OPTION = "lakeward.files"


class FileListPartition(InputPartition):
    """The files of one task."""

    def __init__(self, files: list[FileStatus]) -> None:
        self.files = files


class FileListDataSource(DataSource):
    """Reads a list of files under a plan, both created by `FileSource.frame`."""

    @classmethod
    def name(cls) -> str:
        """Return the internal name; users name a path, not a list."""
        return "lakeward_files"

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader. Spark passes `schema` by name."""
        return FileListReader(self.options[PLAN_OPTION], self.options[FILE_LIST_OPTION], schema)


class FileListReader(DataSourceReader):
    """Plans partitions on the driver and reads files in the workers."""

    def __init__(self, plan: str, listed: str, schema: StructType) -> None:
        self._plan_text, self._listed, self._schema = plan, listed, schema

    def partitions(self) -> Sequence[InputPartition]:
        """Return the files, in about as many groups as there are cores."""
        rows = json.loads(Path(self._listed).read_text(encoding="utf-8", errors="surrogateescape"))
        plan = ReadPlan.from_json(self._plan_text)
        return [
            FileListPartition(group) for group in plan_partitions([FileStatus(*row) for row in rows], plan)
        ]

    def read(self, partition: InputPartition | None) -> Iterator[RecordBatch]:
        """Return Arrow batches of these files, none for the empty partition of an empty list."""
        if not isinstance(partition, FileListPartition):
            return iter(())
        return read_task_files(ReadPlan.from_json(self._plan_text), self._schema, partition.files)


_registration_lock = threading.Lock()


def register_data_source(spark: SparkSession, source: Any) -> None:
    """Register a Python data source in a session, once."""
    from lakeward.spark_internals import activated, session_state

    with _registration_lock:
        if session_state(spark).dataSourceManager().dataSourceExists(source.name()):
            return
        # Spark looks for an existing source in the active session instead of this one.
        with activated(spark):
            spark.dataSource.register(source)
