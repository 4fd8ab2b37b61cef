"""Sources of files: the columns and the read plan of a stream, and files as a batch (AL-2, AL-4.3, AL-5).

`define_stream` serves `load`; `FileSource` serves read_files and COPY INTO.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery.file_listing import COMPRESSED_SUFFIXES, FileLister, FileStatus
from lakeward.autoloader.discovery.file_names import FileNames, session_file_names
from lakeward.autoloader.discovery.globs import Globber
from lakeward.autoloader.options.option_validation import require_format_options
from lakeward.autoloader.options.option_values import Options, use_delta_format
from lakeward.autoloader.options.schema_options import has_fixed_schema, rescued_column
from lakeward.autoloader.read_plan import (
    METADATA,
    PLAN_OPTION,
    ReadPlan,
    create_lister,
    handoff_directory,
    reads_nanos_as_long,
)
from lakeward.errors import CloudFilesError
from lakeward.spark_internals import java_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema.schema_resolution import ResolvedSchema


_FORMATS_WITH_RESCUE = ("json", "csv", "parquet", "avro", "xml")


def define_stream(
    spark: SparkSession,
    *,
    path: str | None,
    user_options: Mapping[str, str],
    user_schema: StructType | None,
) -> tuple[ReadPlan, StructType]:
    """Return the read plan and the visible columns in order; raise CloudFilesError.

    Args:
        spark: The session.
        path: The path of `load`.
        user_options: The user's options.
        user_schema: The schema of `.schema(…)`.
    """
    from lakeward.autoloader.schema.schema_resolution import resolve_schema

    names = session_file_names()
    options = Options.of(
        {key: value for key, value in user_options.items() if key.lower() not in ("path", PLAN_OPTION)}
    )
    source = names.local(_require_path(path, options, has_schema=user_schema is not None))
    FileSource(options, names, source).require_other_than_delta()
    location = options.text("cloudFiles.schemaLocation")
    resolved = resolve_schema(
        spark,
        options,
        create_lister(source, names, options),
        user_schema=user_schema,
        location=names.local(location) if location else None,
    )
    rescued = rescued_column(options, has_user_schema=user_schema is not None)
    plan = create_read_plan(
        spark,
        options,
        names,
        source,
        resolved,
        rescued=rescued,
        user_schema=user_schema,
    )
    return plan, output_columns(resolved, plan.rescued, user_schema)


def create_read_plan(
    spark: SparkSession,
    options: Options,
    names: FileNames,
    source: str,
    resolved: ResolvedSchema,
    *,
    rescued: str | None,
    user_schema: StructType | None,
) -> ReadPlan:
    """Create the plan of a source with resolved columns.

    Args:
        spark: The session.
        options: The options of the source.
        names: File names of the lakehouse.
        source: Local path or URI.
        resolved: The resolved columns.
        rescued: The rescued data column; ignored for formats without one.
        user_schema: The user's schema.
    """
    conf = spark.conf
    return ReadPlan(
        token=uuid.uuid4().hex,
        handoff_dir=str(handoff_directory()),
        source=source,
        source_key=names.key(Globber(source).root),
        paths=names.path_map.entries,
        format=options.format,
        columns=json.dumps(resolved.data.jsonValue()),
        mode=resolved.mode,
        rescued=rescued if options.format in _FORMATS_WITH_RESCUE else None,
        rescue_path=conf.get("spark.databricks.sql.rescuedDataColumn.filePath.enabled", "true") != "false",
        corrupt=_corrupt_column(options, resolved.data),
        partitions=tuple(resolved.partitions.names),
        schema_location=resolved.location,
        has_user_schema=user_schema is not None,
        infer_types=options.infer_types,
        case_sensitive=options.flag("readerCaseSensitive"),
        time_zone=options.text("timeZone") or str(conf.get("spark.sql.session.timeZone")),
        nanos_as_long=reads_nanos_as_long(spark),
        parallelism=java_session(spark).sparkContext().defaultParallelism(),
        options=options.without_secrets().raw,
    )


def _require_path(path: str | None, options: Options, *, has_schema: bool) -> str:
    if path:
        return path
    queues = ("cloudFiles.queueUrl", "cloudFiles.queueName", "cloudFiles.subscription")
    if any(map(options.is_set, queues)) and not has_schema:
        raise CloudFilesError(
            "CF_MISSING_SCHEMA_IN_PATHLESS_MODE",
            "cloudFiles was loaded from a queue without a path and without a schema.",
            next_step="Set the directory in load(path); files are discovered by listing it.",
        )
    raise CloudFilesError(
        "CF_SOURCE_DIRECTORY_PATH_REQUIRED",
        "cloudFiles was loaded without a path"
        + (", from a queue" if any(map(options.is_set, queues)) else "")
        + ".",
        next_step="Set the directory in load(path); files are discovered by listing it.",
    )


def _corrupt_column(options: Options, data: StructType) -> str | None:
    name = options.text("columnNameOfCorruptRecord")
    return name if name in data.names else None


def output_columns(
    resolved: ResolvedSchema, rescued: str | None, user_schema: StructType | None
) -> StructType:
    """Return the visible columns. A user schema keeps its order, also of the rescued column."""
    from pyspark.sql.types import StringType, StructType

    data, partitions = resolved.data, resolved.partitions
    columns = list(user_schema.fields) if user_schema is not None else [*data.fields, *partitions.fields]
    if rescued is not None and rescued not in {field.name for field in columns}:
        position = len(data.fields) if user_schema is None else len(columns)
        columns.insert(position, StructType().add(rescued, StringType()).fields[0])
    return StructType(columns)


_EXTENSIONS = {
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
    **dict.fromkeys(("csv", "tsv"), "csv"),
    **dict.fromkeys(("txt", "text", "log"), "text"),
    **dict.fromkeys(("xls", "xlsx", "xlsm"), "excel"),
    **{name: name for name in ("avro", "orc", "parquet", "xml")},
}


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

    @property
    def is_delta_table(self) -> bool:
        """Return whether the path is the folder of a Delta table; not looked at in object stores."""
        return "://" not in self.source and (Path(self.source) / "_delta_log").is_dir()

    def require_other_than_delta(self) -> None:
        """Raise CF_USE_DELTA_FORMAT for a Delta table: its folder has files that are not part of it."""
        if self.is_delta_table:
            raise use_delta_format(f"{self.display_path} is a Delta table")

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
        self,
        spark: SparkSession,
        files: Sequence[FileStatus],
        *,
        of: Sequence[FileStatus] | None = None,
        adds_corrupt: bool = False,
    ) -> ResolvedSchema:
        """Infer the columns of `files` and apply hints.

        Args:
            spark: The session, whose settings apply.
            files: The files to read.
            of: The files whose records have the columns; default: all.
            adds_corrupt: Whether malformed JSON records get a column, where nothing else keeps them.

        Raises:
            CloudFilesError: Nothing can be inferred.
        """
        from lakeward.autoloader.schema.schema_resolution import (
            ResolvedSchema,
            apply_hints_option,
            infer_version,
        )

        version = infer_version(
            self.options,
            self.lister,
            files,
            lambda: files if of is None else of,
            is_batch=True,
            nanos_as_long=reads_nanos_as_long(spark),
            adds_corrupt=adds_corrupt,
        )
        if has_fixed_schema(self.options):
            return ResolvedSchema(*version, "none", None)
        return ResolvedSchema(*apply_hints_option(self.options, version), "rescue", None)

    def match_columns(
        self, files: Sequence[FileStatus], schema: StructType, rescued: str | None
    ) -> ResolvedSchema:
        """Split the user's columns into data columns and partition columns, which the paths have.

        `rescued` is the rescued data column, which is neither.
        Raises CloudFilesError if an option is missing that the format requires.
        """
        from pyspark.sql.types import StructType

        from lakeward.autoloader.schema.partition_columns import infer_partition_schema
        from lakeward.autoloader.schema.schema_resolution import ResolvedSchema

        require_format_options(self.options)
        partitions = infer_partition_schema(self._below(files[:1]), self.options, schema)
        data = [field for field in schema.fields if field.name != rescued]
        return ResolvedSchema(StructType(data), partitions, "none", None)

    def frame(
        self,
        spark: SparkSession,
        files: Sequence[FileStatus],
        columns: ResolvedSchema,
        *,
        rescued: str | None,
        user_schema: StructType | None = None,
        skipped: Path | None = None,
    ) -> DataFrame:
        """Return the rows of `files`, with the hidden column `_metadata`.

        Args:
            spark: The session.
            files: The files to read.
            columns: Their data and partition columns.
            rescued: Name of the rescued data column, None for rows without one.
            user_schema: The user's schema, which fixes the order of columns.
            skipped: Directory for markers of skipped files.
        """
        from pyspark.sql.types import StructType

        from lakeward.autoloader.data_sources import (
            FILE_LIST_OPTION,
            FileListDataSource,
            register_data_source,
        )
        from lakeward.autoloader.read_plan import hide_metadata, raw_metadata_field

        plan = create_read_plan(
            spark,
            self.options,
            self.names,
            self.source,
            columns,
            rescued=rescued,
            user_schema=user_schema,
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

    def without_subfolders(self, files: Sequence[FileStatus]) -> list[FileStatus]:
        """Return the files that a batch reader of Spark reads: of subfolders those of partitions alone."""
        folders = [path.rpartition("/")[0].strip("/") for path in self._below(files)]
        return [
            status
            for status, below in zip(files, folders, strict=True)
            if not below or all("=" in name for name in below.split("/"))
        ]

    def _below(self, files: Sequence[FileStatus]) -> list[str]:
        root = self.names.key(self.lister.root)
        return [status.key[len(root) :] for status in files]


def detect_format(files: Sequence[FileStatus], shown: str) -> str:
    """Return the format implied by all file names; raise CF_UNABLE_TO_DETECT_FILE_FORMAT."""
    if not files:
        raise CloudFilesError(
            "CF_UNABLE_TO_DETECT_FILE_FORMAT",
            f"There are no files in {shown}, so their format is unknown.",
            next_step="Correct the path, wait for files, or set the format: format => 'json'.",
        )
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
    for packed in (*COMPRESSED_SUFFIXES, ".lz4"):
        name = name.removesuffix(packed)
    return name.rpartition(".")[2]
