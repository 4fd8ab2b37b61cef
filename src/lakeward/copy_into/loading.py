"""From files to the rows that a statement wants to append."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.autoloader import FileSource, FileStatus, Rescue
from lakeward.copy_into.request import Request
from lakeward.errors import CloudFilesError, SqlError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Loading", "copied", "loading_of"]

_FORMAT_CHECK = "spark.databricks.delta.copyInto.formatCheck.enabled"
_NOTHING = Rescue(None)
# Formats whose columns are those of one file unless FORMAT_OPTIONS say mergeSchema.
_BY_ONE_FILE = ("csv", "parquet", "avro", "orc")
_queried: dict[str, DataFrame] = {}


@dataclass(frozen=True)
class Loading:
    """What a statement reads."""

    request: Request
    source: FileSource

    def new_files(self, known: frozenset[str]) -> list[FileStatus]:
        """The files to be loaded, without those that `known` names. Raises SqlError without a source."""
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
                f"Path does not exist: {self.source.shown}.",
                parameters={"path": self.source.shown},
            ) from None

    def rows(self, spark: SparkSession, files: Sequence[FileStatus], skipped: Path | None) -> DataFrame:
        """The rows of `files`, through the statement's query if it has one. Raises SqlError."""
        request = self.request
        merged = request.flag("mergeSchema", default=False) or request.format not in _BY_ONE_FILE
        try:
            columns = self.source.columns(files, of=None if merged else files[:1])
        except CloudFilesError as error:
            if error.condition != "CF_FAILED_TO_INFER_SCHEMA":
                raise
            raise SqlError(
                "COPY_INTO_SOURCE_SCHEMA_INFERENCE_FAILED",
                f"The schema of the files in {self.source.shown} cannot be inferred: {error.message}",
                sql_state="42KD9",
                next_step="Check FILEFORMAT and the files.",
            ) from None
        frame = self.source.frame(spark, files, columns, rescue=_NOTHING, skipped=skipped)
        if request.select is None:
            return frame
        before, behind = request.select
        with _named_by_token(frame) as token:
            return spark.sql(f"{before} lakeward_copied('{token}') {behind}")

    def _matching(self, pattern: str, loaded: frozenset[str]) -> list[FileStatus]:
        """The files of PATTERN, a glob below the source."""
        self.source.require()
        try:
            return self._other(pattern).files(loaded.__contains__)
        except FileNotFoundError:
            return []

    def _other(self, name: str) -> FileSource:
        return FileSource.of(_below(self.request.source, name), self.source.options.given)

    def _named(self, names: Sequence[str], loaded: frozenset[str]) -> list[FileStatus]:
        """The files of FILES, which are relative to the source."""
        found: list[FileStatus] = []
        for name in dict.fromkeys(names):
            one = self._other(name)
            try:
                found += one.files(loaded.__contains__)
            except FileNotFoundError:
                if not self.request.flag("ignoreMissingFiles", default=True):
                    raise SqlError(
                        "PATH_NOT_FOUND",
                        f"Path does not exist: {one.shown}.",
                        parameters={"path": one.shown},
                    ) from None
        return found


def loading_of(spark: SparkSession, request: Request) -> Loading:
    """The loading of a request. Raises SqlError for a source that is a Delta table."""
    source = FileSource.of(request.source, _options(request))
    checks = str(spark.conf.get(_FORMAT_CHECK, "true")).lower() != "false"
    if checks and "://" not in source.source and (Path(source.source) / "_delta_log").is_dir():
        raise SqlError(
            "COPY_INTO_SOURCE_FILE_FORMAT_NOT_SUPPORTED",
            f"The source {source.shown} is a Delta table, not a folder of {request.format} files.",
            sql_state="0A000",
            next_step=f"Use INSERT INTO … SELECT, or set {_FORMAT_CHECK} to false to load its files.",
        )
    return Loading(request, source)


def copied(token: str) -> DataFrame:
    """The rows that a statement's query reads."""
    return _queried[token]


@contextmanager
def _named_by_token(frame: DataFrame) -> Iterator[str]:
    token = uuid.uuid4().hex
    _queried[token] = frame
    try:
        yield token
    finally:
        del _queried[token]


def _options(request: Request) -> dict[str, str]:
    """FORMAT_OPTIONS under Auto Loader's keys, with COPY INTO's defaults."""
    given = dict(request.options)
    typed = given.pop("inferschema", "false" if request.format == "csv" else "true")
    given.pop("mergeschema", None)
    given.setdefault("header", "false")
    given.setdefault("ignoremissingfiles", "true")
    return {
        **given,
        "cloudFiles.format": request.format,
        "cloudFiles.inferColumnTypes": typed,
        "cloudFiles.useStrictGlobber": "true",
    }


def _below(folder: str, name: str) -> str:
    return name if name.startswith("/") or ":/" in name else f"{folder.rstrip('/')}/{name}"
