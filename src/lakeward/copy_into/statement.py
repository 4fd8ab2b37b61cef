"""COPY INTO from the parsed statement to its result, including VALIDATE (AL-8.10)."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader import FileStatus, SkippedFiles, find_cloud_files_error
from lakeward.copy_into.column_mapping import map_columns, require_columns
from lakeward.copy_into.delta_target import DeltaTarget, find_target, table_schema
from lakeward.copy_into.load_transaction import CommitConflict, LoadTransaction, WrittenFiles
from lakeward.copy_into.request import CopyIntoRequest
from lakeward.copy_into.source_files import SourceFiles, open_source
from lakeward.dataset_properties import CHECK_PREFIX, KIND_PROPERTY
from lakeward.errors import CloudFilesError, SqlError
from lakeward.quoting import quote_identifier
from lakeward.session import INSERTED_COLUMNS
from lakeward.spark_internals import java_frame, java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeward.sql import CopyInto

_FILE_IN_MESSAGE = re.compile(r"The file (\S+) ")


@contextmanager
def translate_errors(shown: str) -> Iterator[None]:
    """Raise failures to read `shown` as SqlError; other errors are unchanged."""
    try:
        yield
    except SqlError:
        raise
    except CloudFilesError as error:
        raise _to_sql_error(error.condition, error.message, error.next_step, shown) from None
    except Exception as error:
        wrapped = find_cloud_files_error(error)
        if wrapped is None:
            raise
        raise _to_sql_error(wrapped.condition, wrapped.message, None, shown) from error


def _to_sql_error(condition: str, message: str, next_step: str | None, shown: str) -> SqlError:
    file = _FILE_IN_MESSAGE.search(message)
    is_unreadable = condition.startswith("FAILED_READ_FILE")
    state = "KD001" if is_unreadable else "42000"
    parameters = {"path": file[1] if file else shown} if is_unreadable else None
    return SqlError(condition, message, sql_state=state, parameters=parameters, next_step=next_step)


PREVIEW = 50


def preview_rows(
    spark: SparkSession, loading: SourceFiles, files: Sequence[FileStatus], metadata: Any, shown: str
) -> Any:
    """Validate the rows and return the first ones (AL-8.10).

    Args:
        spark: The session.
        loading: The source.
        files: The new files.
        metadata: Delta's metadata of the target.
        shown: Display name of the target.
    """
    limit = loading.request.validate
    table = table_schema(metadata)
    if not files:
        return java_frame(spark.createDataFrame([], table))
    rows = map_columns(loading.rows(spark, files, None), table, loading.request, shown)
    _check_types(rows, metadata)
    checked = rows.limit(limit) if isinstance(limit, int) else rows
    _check_constraints(checked, table, metadata)
    return java_frame(checked.limit(min(limit, PREVIEW) if isinstance(limit, int) else PREVIEW))


def _check_types(rows: DataFrame, metadata: Any) -> None:
    """Raise Delta's error for a column that a load could not write, as of LONG into INT."""
    if metadata.configuration().get("delta.enableTypeWidening").contains("true"):
        return  # a load may change the type
    merging = jvm_view(rows.sparkSession).org.apache.spark.sql.delta.schema.SchemaMergingUtils
    widening = getattr(merging, "mergeSchemas$default$5")()
    merging.mergeSchemas(metadata.schema(), java_frame(rows).schema(), False, False, widening, False)


def _check_constraints(rows: DataFrame, table: StructType, metadata: Any) -> None:
    """Read all values, then find the first row that violates a constraint."""
    from pyspark.sql import functions as F

    names = {name.lower() for name in rows.columns}
    required = [f.name for f in table.fields if not f.nullable and f.name.lower() in names]
    rules = {f"{name}\0": F.col(quote_identifier(name)).isNotNull() for name in required}
    configuration = metadata.configuration()
    keys = configuration.keysIterator()
    while keys.hasNext():
        key = keys.next()
        if key.startswith(CHECK_PREFIX):
            rules[key.removeprefix(CHECK_PREFIX)] = F.expr(configuration.apply(key))
    # The noop sink makes readers parse every value and evaluates every cast.
    rows.write.format("noop").mode("overwrite").save()
    if not rules:
        return
    counts = [F.count_if(~F.coalesce(rule, F.lit(False))).alias(name) for name, rule in rules.items()]
    violations = rows.agg(*counts).first()
    assert violations is not None
    broken = [name for name in rules if violations[name]]
    if not broken:
        return
    name = broken[0]
    if name.endswith("\0"):
        column = name[:-1]
        raise SqlError(
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
            f"NOT NULL constraint violated for column: {column}.",
            sql_state="23502",
            next_step=f"{violations[name]} rows are null in this column.",
        )
    row = rows.where(~F.coalesce(rules[name], F.lit(False))).first()
    assert row is not None
    raise SqlError(
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
        f"CHECK constraint {name} {configuration.apply(CHECK_PREFIX + name)} violated by row with values: "
        f"{json.dumps(row.asDict(recursive=True), default=str)}.",
        sql_state="23001",
    )


_RESULT = f"{INSERTED_COLUMNS}, num_skipped_corrupt_files BIGINT"
# Every conflict means that another load committed; the limit ends livelocks.
_MAX_ATTEMPTS = 100


def execute_copy_into(spark: SparkSession, command: CopyInto) -> Any:
    """Load new files; return the counts, or the preview of VALIDATE.

    Raises SqlError, and errors of Delta.
    """
    request = CopyIntoRequest.of(command)
    target = find_target(spark, request.target)
    loading = open_source(spark, request)
    with translate_errors(loading.source.display_path), _skip_markers(request, target) as notes:
        load = LoadTransaction(spark, target)
        _require_writable(spark, load.metadata, target.display_name)
        require_columns(table_schema(load.metadata), request, target.display_name)
        files = loading.new_files(load.history.keys)
        if request.validate is not None:
            return preview_rows(spark, loading, files, load.metadata, target.display_name)
        if not files:
            return _result(0, 0)
        return _load_files(load, loading, files, notes)


def _require_writable(spark: SparkSession, metadata: Any, shown: str) -> None:
    """Raise the condition of other statements for the metadata of a materialized view or a streaming table.

    Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-streaming-table
    (limitations).
    """
    kind = metadata.configuration().get(KIND_PROPERTY)
    if kind.isDefined() and kind.get() == "streaming_table":
        raise SqlError(
            "STREAMING_TABLE_OPERATION_NOT_ALLOWED.UNSUPPORTED_OPERATION",
            f"The operation COPY INTO is not allowed: {shown} is a streaming table.",
            sql_state="42601",
            next_step="Load the files with read_files in the definition of the table.",
        )
    if kind.isDefined():
        jvm: Any = jvm_view(spark)
        jvm.lakeward.MaterializedViews.checkKind(kind.get(), java_session(spark), shown, "INSERT")


def _load_files(
    load: LoadTransaction, loading: SourceFiles, files: Sequence[FileStatus], notes: Path | None
) -> dict[str, Any]:
    request, written = loading.request, None
    for _ in range(_MAX_ATTEMPTS):
        if written is None or not load.can_reuse(written):
            written = _write_files(load, loading, files, notes)
        skipped = _skipped_keys(notes)
        loaded = [status.key for status in files if status.key not in skipped]
        operation = load.operation(_operation_parameters(loading), sorted(skipped))
        try:
            load.commit(written, loaded, operation)
        except CommitConflict:
            load = LoadTransaction(load.spark, load.target)
            _require_unloaded(load, loaded, request, load.target)
            continue
        return _result(int(operation.metrics().get("numOutputRows") or 0), len(skipped))
    raise SqlError(
        "DELTA_CONCURRENT_TRANSACTION",
        f"The load into {load.target.display_name} conflicted with {_MAX_ATTEMPTS} concurrent loads.",
        sql_state="2D521",
        next_step="Run the statement again.",
    )


def _write_files(
    load: LoadTransaction, loading: SourceFiles, files: Sequence[FileStatus], notes: Path | None
) -> WrittenFiles:
    rows = loading.rows(load.spark, files, notes)
    request = loading.request
    fitting = map_columns(rows, table_schema(load.metadata), request, load.target.display_name)
    return load.write(fitting, merge_schema=request.merge_schema)


def _require_unloaded(
    load: LoadTransaction, loaded: Sequence[str], request: CopyIntoRequest, target: DeltaTarget
) -> None:
    """Raise if a concurrent load has loaded one of the files (AL-8.14)."""
    twice = [] if request.force else [key for key in loaded if key in load.history.keys]
    if twice:
        raise SqlError(
            "COPY_INTO_DUPLICATED_FILES_COPY_NOT_ALLOWED",
            f"{len(twice)} of the files, such as {twice[0]}, were loaded into {target.display_name} by a"
            " concurrent COPY INTO; this one wrote nothing.",
            sql_state="25000",
            next_step="Run it again; loaded files are skipped.",
        )


def _operation_parameters(loading: SourceFiles) -> dict[str, str]:
    request = loading.request
    shown = {"source": loading.source.display_path, "fileFormat": request.format.upper()}
    options = {"force": request.force, "mergeSchema": request.merge_schema}
    return {**shown, **{key: "true" for key, value in options.items() if value}}


def _result(rows: int, skipped: int) -> dict[str, Any]:
    return {"schema": _RESULT, "rows": [[rows, rows, skipped]]}


@contextmanager
def _skip_markers(request: CopyIntoRequest, target: DeltaTarget) -> Iterator[Path | None]:
    """Yield a directory for markers of corrupt files, in the table's log if that is local.

    All workers can write there. Yields None unless corrupt files are ignored.
    """
    if not request.flag("ignoreCorruptFiles", default=False):
        yield None
        return
    log = target.log.logPath().toUri()
    parent = str(log.getPath()) if log.getScheme() in (None, "file") else None
    folder = Path(tempfile.mkdtemp(prefix="_copy_into_skipped_", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _skipped_keys(notes: Path | None) -> set[str]:
    if notes is None:
        return set()
    return {key for key, reason in SkippedFiles(notes).reasons().items() if reason == "SKIPPED_CORRUPTED"}
