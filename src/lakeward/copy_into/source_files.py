"""The source of COPY INTO: new files, and their rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.autoloader import FileSource, FileStatus, require_closed_brackets
from lakeward.copy_into.request import CopyIntoRequest
from lakeward.errors import CloudFilesError, SqlError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FORMAT_CHECK = "spark.databricks.delta.copyInto.formatCheck.enabled"
# Formats that infer columns from one file unless FORMAT_OPTIONS has mergeSchema.
_BY_ONE_FILE = ("csv", "parquet", "avro", "orc")
_staged: dict[str, DataFrame] = {}


@dataclass(frozen=True)
class SourceFiles:
    """The source of one statement."""

    request: CopyIntoRequest
    source: FileSource

    def new_files(self, known: frozenset[str]) -> list[FileStatus]:
        """Return files that are not in `known`; raise SqlError if the source does not exist."""
        request = self.request
        loaded = frozenset() if request.force else known
        try:
            if request.files is not None:
                return self._named(request.files, loaded)
            if request.pattern is not None:
                return self._matching(request.pattern, loaded)
            return self.source.files(loaded.__contains__)
        except FileNotFoundError:
            raise SqlError(
                "PATH_NOT_FOUND",
                f"Path does not exist: {self.source.display_path}.",
                parameters={"path": self.source.display_path},
            ) from None

    def rows(self, spark: SparkSession, files: Sequence[FileStatus], skipped: Path | None) -> DataFrame:
        """Return the rows of `files`, through the statement's query if it has one; raise SqlError."""
        request = self.request
        merged = request.flag("mergeSchema", default=False) or request.format not in _BY_ONE_FILE
        try:
            columns = self.source.infer_columns(
                spark, files, of=None if merged else files[:1], adds_corrupt=True
            )
        except CloudFilesError as error:
            if error.condition != "CF_FAILED_TO_INFER_SCHEMA":
                raise
            raise SqlError(
                "COPY_INTO_SOURCE_SCHEMA_INFERENCE_FAILED",
                f"The schema of the files in {self.source.display_path} cannot be inferred: {error.message}",
                sql_state="42KD9",
                next_step="Check FILEFORMAT and the files.",
            ) from None
        frame = self.source.frame(spark, files, columns, rescued=None, skipped=skipped)
        if request.select is None:
            return frame
        before, behind = request.select
        with _stage_rows(frame) as token:
            return spark.sql(f"{before} lakeward_copied('{token}') {behind}")

    def _matching(self, pattern: str, loaded: frozenset[str]) -> list[FileStatus]:
        """Return the files that match PATTERN, a glob below the source; raise CF_INVALID_GLOB."""
        require_closed_brackets(pattern)
        self.source.require_exists()
        try:
            return self._other(pattern).files(loaded.__contains__)
        except FileNotFoundError:
            return []

    def _other(self, name: str) -> FileSource:
        return FileSource.of(_join_path(self.request.source, name), self.source.options.raw)

    def _named(self, names: Sequence[str], loaded: frozenset[str]) -> list[FileStatus]:
        """Return the files of FILES, which are relative to the source."""
        files: list[FileStatus] = []
        for name in dict.fromkeys(names):
            if not name.strip():
                raise SqlError(
                    "COPY_INTO_SYNTAX_ERROR",
                    "FILES has an empty name.",
                    sql_state="42601",
                    next_step="Remove it; without FILES all files of the source are loaded.",
                )
            one = self._other(name)
            try:
                files += one.files(loaded.__contains__)
            except FileNotFoundError:
                if not self.request.flag("ignoreMissingFiles", default=True):
                    raise SqlError(
                        "PATH_NOT_FOUND",
                        f"Path does not exist: {one.display_path}.",
                        parameters={"path": one.display_path},
                    ) from None
        return files


def open_source(spark: SparkSession, request: CopyIntoRequest) -> SourceFiles:
    """Return the source of a request; raise SqlError if it is a Delta table."""
    source = FileSource.of(request.source, _reader_options(request))
    checks = str(spark.conf.get(_FORMAT_CHECK, "true")).lower() != "false"
    if checks and source.is_delta_table:
        raise SqlError(
            "COPY_INTO_SOURCE_FILE_FORMAT_NOT_SUPPORTED",
            f"The source {source.display_path} is a Delta table, not a folder of {request.format} files.",
            sql_state="0A000",
            next_step=f"Use INSERT INTO … SELECT, or set {_FORMAT_CHECK} to false to load its files.",
        )
    return SourceFiles(request, source)


def staged_rows(token: str) -> DataFrame:
    """Return the rows that the query of a statement reads, by token."""
    return _staged[token]


@contextmanager
def _stage_rows(frame: DataFrame) -> Iterator[str]:
    token = uuid.uuid4().hex
    _staged[token] = frame
    try:
        yield token
    finally:
        del _staged[token]


def _reader_options(request: CopyIntoRequest) -> dict[str, str]:
    """Return FORMAT_OPTIONS with Auto Loader's keys and COPY INTO's defaults."""
    options = dict(request.options)
    # Spark's reader of JSON infers types whatever `inferSchema` is.
    given = options.pop("inferschema", None) if request.format != "json" else None
    typed = given or ("false" if request.format == "csv" else "true")
    options.setdefault("header", "false")
    options.setdefault("ignoremissingfiles", "true")
    return {
        **options,
        "cloudFiles.format": request.format,
        "cloudFiles.inferColumnTypes": typed,
        "cloudFiles.useStrictGlobber": "true",
    }


def _join_path(folder: str, name: str) -> str:
    return name if name.startswith("/") or ":/" in name else f"{folder.rstrip('/')}/{name}"
