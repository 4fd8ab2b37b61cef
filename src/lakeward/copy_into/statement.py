"""COPY INTO from the parsed statement to its result."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader import FileStatus, Skips
from lakeward.copy_into.columns import fitted, require_columns
from lakeward.copy_into.commit import Load, Lost, Written
from lakeward.copy_into.failures import told
from lakeward.copy_into.loading import Loading, loading_of
from lakeward.copy_into.request import Request
from lakeward.copy_into.target import Target, schema_of, target_of
from lakeward.copy_into.validation import validated
from lakeward.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["carry_out"]

_RESULT = "num_affected_rows BIGINT, num_inserted_rows BIGINT, num_skipped_corrupt_files BIGINT"
# Each lost attempt means that another one committed, so that this many only happen to those who never stop.
_ATTEMPTS = 100


def carry_out(spark: SparkSession, statement: Mapping[str, Any]) -> Any:
    """Load what is new; gives the counts, or VALIDATE's preview. Raises SqlError, and what Delta raises."""
    request = Request.of(statement)
    target = target_of(spark, request.target)
    loading = loading_of(spark, request)
    with told(loading.source.shown), _notes(request, target) as notes:
        load = Load(spark, target)
        require_columns(schema_of(load.metadata), request, target.shown)
        files = loading.new_files(load.history.keys)
        if request.validate is not None:
            return validated(spark, loading, files, load.metadata, target.shown)
        if not files:
            return _result(0, 0)
        return _copied(load, loading, files, notes)


def _copied(load: Load, loading: Loading, files: Sequence[FileStatus], notes: Path | None) -> dict[str, Any]:
    request, written = loading.request, None
    for _ in range(_ATTEMPTS):
        if written is None or not load.take_over(written):
            written = _written(load, loading, files, notes)
        skipped = _skipped(notes)
        loaded = [status.key for status in files if status.key not in skipped]
        operation = load.operation(_parameters(loading), sorted(skipped))
        try:
            load.commit(written, loaded, operation)
        except Lost:
            load = Load(load.spark, load.target)
            _require_unloaded(load, loaded, request, load.target)
            continue
        return _result(int(operation.metrics().get("numOutputRows") or 0), len(skipped))
    raise SqlError(
        "DELTA_CONCURRENT_TRANSACTION",
        f"{_ATTEMPTS} other loads of {load.target.shown} were faster, one after the other.",
        sql_state="2D521",
        next_step="Run the statement again.",
    )


def _written(load: Load, loading: Loading, files: Sequence[FileStatus], notes: Path | None) -> Written:
    rows = loading.rows(load.spark, files, notes)
    request = loading.request
    fitting = fitted(rows, schema_of(load.metadata), request, load.target.shown)
    return load.write(fitting, merge_schema=request.merge_schema)


def _require_unloaded(load: Load, loaded: Sequence[str], request: Request, target: Target) -> None:
    """§8 rule 14: another run loaded one of the files in the meantime."""
    twice = [] if request.force else [key for key in loaded if key in load.history.keys]
    if twice:
        raise SqlError(
            "COPY_INTO_DUPLICATED_FILES_COPY_NOT_ALLOWED",
            f"{len(twice)} of the files, such as {twice[0]}, were loaded into {target.shown} by another"
            " COPY INTO that ran at the same time; this one wrote nothing.",
            sql_state="25000",
            next_step="Run it again: files that are loaded are skipped.",
        )


def _parameters(loading: Loading) -> dict[str, str]:
    request = loading.request
    shown = {"source": loading.source.shown, "fileFormat": request.format.upper()}
    options = {"force": request.force, "mergeSchema": request.merge_schema}
    return {**shown, **{key: "true" for key, value in options.items() if value}}


def _result(rows: int, skipped: int) -> dict[str, Any]:
    return {"schema": _RESULT, "rows": [[rows, rows, skipped]]}


@contextmanager
def _notes(request: Request, target: Target) -> Iterator[Path | None]:
    """A folder in which readers note corrupt files: beside the table's log, where every worker can write."""
    if not request.flag("ignoreCorruptFiles", default=False):
        yield None
        return
    log = target.log.logPath().toUri()
    beside = str(log.getPath()) if log.getScheme() in (None, "file") else None
    folder = Path(tempfile.mkdtemp(prefix="_copy_into_skipped_", dir=beside))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _skipped(notes: Path | None) -> set[str]:
    if notes is None:
        return set()
    return {key for key, reason in Skips(notes).noted().items() if reason == "SKIPPED_CORRUPTED"}
