"""Patches of PySpark: `load` plans a stream, `start` and `toTable` start it, errors lose Spark's wrapping."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.options.option_validation import option_warnings
from lakeward.autoloader.query_start import start_query
from lakeward.autoloader.read_plan import METADATA, PLAN_OPTION, hide_metadata, raw_metadata_field
from lakeward.autoloader.streams.query_progress import to_databricks_progress
from lakeward.errors import CloudFilesError
from lakeward.patching import Order, PatchSpec, Wrapped
from lakeward.spark_internals import java_session, jvm_view, use_python_progress
from lakeward.user_code import warn_user

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_STATE_ATTRIBUTE = "_lakeward_reader"


class _ReaderState:
    """Format, schema and options set on a reader so far. PySpark keeps them in the JVM, without access."""

    def __init__(self) -> None:
        self.format = ""
        self.schema: Any = None
        self.options: dict[str, str] = {}

    def parsed_schema(self) -> Any:
        """Return the schema as a type, None for none."""
        from pyspark.sql.types import _parse_datatype_string

        return _parse_datatype_string(self.schema) if isinstance(self.schema, str) else self.schema


def _reader_state(reader: Any) -> _ReaderState:
    state: _ReaderState = reader.__dict__.setdefault(_STATE_ATTRIBUTE, _ReaderState())
    return state


def _record_format(state: _ReaderState, source: str) -> None:
    state.format = str(source).lower()


def _record_schema(state: _ReaderState, schema: Any) -> None:
    state.schema = schema


def _record_option(state: _ReaderState, key: str, value: object) -> None:
    _record_options(state, **{key: value})


def _record_options(state: _ReaderState, /, **options: Any) -> None:
    from pyspark.sql.utils import to_str

    for key, value in options.items():
        text = to_str(value)
        if text is None:
            state.options.pop(key.lower(), None)
        else:
            state.options[key.lower()] = text


def _recording(record: Callable[..., None]) -> Callable[[Any], Any]:
    """Return the patch of a reader's method that calls `record` with the method's arguments first."""

    def patch(before: Wrapped) -> Any:

        @wraps(before)
        def method(self: Any, *arguments: Any, **named: Any) -> Any:
            record(_reader_state(self), *arguments, **named)
            return before(self, *arguments, **named)

        return method

    return patch


def _patch_stream_load(before: Wrapped) -> Any:

    @wraps(before)
    def load(self: Any, path: Any = None, format: Any = None, schema: Any = None, **options: Any) -> Any:
        if format is not None:
            self.format(format)
        if _reader_state(self).format != "cloudfiles":
            return before(self, path, None, schema, **options)
        if schema is not None:
            self.schema(schema)
        self.options(**options)
        return _load_cloud_files(self, before, path if path is None else str(path))

    return load


def _load_cloud_files(reader: Any, before: Wrapped, path: str | None) -> Any:
    from pyspark.sql.types import StructType

    from lakeward.autoloader.data_sources import CloudFilesDataSource, register_data_source
    from lakeward.autoloader.error_translation import to_analysis_exception
    from lakeward.autoloader.file_source import define_stream
    from lakeward.autoloader.streams.scan_planning import plan_scans, read_with_scans

    seen, spark = _reader_state(reader), reader._spark
    register_data_source(spark, CloudFilesDataSource)
    schema = seen.parsed_schema()
    path = path if path is not None else seen.options.get("path")
    try:
        plan, columns = define_stream(spark, path=path, user_options=seen.options, user_schema=schema)
    except CloudFilesError as error:
        raise to_analysis_exception(error) from None
    for sentence in option_warnings(plan.user_options):
        warn_user(sentence)
    own_metadata = METADATA in columns.names
    metadata = [] if own_metadata else [raw_metadata_field()]
    full = StructType([*columns.fields, *metadata])
    reader = spark.readStream.format("cloudFiles").schema(full)
    plan, layout = plan_scans(spark, plan, full)
    # Not as `path`: Spark would resolve that itself.
    raw = read_with_scans(before(reader.option(PLAN_OPTION, plan.as_json())), layout)
    return raw if own_metadata else hide_metadata(raw, columns.names)


def _patch_batch_load(before: Wrapped) -> Any:

    @wraps(before)
    def load(self: Any, path: Any = None, format: Any = None, schema: Any = None, **options: Any) -> Any:
        from lakeward.autoloader.error_translation import batch_usage_error, to_analysis_exception

        if format is not None:
            self.format(format)
        state = _reader_state(self)
        if state.format == "cloudfiles":
            raise to_analysis_exception(batch_usage_error())
        if state.format == "excel" and not _has_excel_reader(self._spark):
            if schema is not None:
                self.schema(schema)
            self.options(**options)
            return _load_excel(self, path)
        return before(self, path, None, schema, **options)

    return load


def _has_excel_reader(spark: Any) -> bool:
    jvm: Any = jvm_view(spark)
    return bool(jvm.lakeward.FormatCheck.hasReader(java_session(spark), "excel"))


def _load_excel(reader: Any, path: Any) -> DataFrame:
    from lakeward.autoloader.error_translation import to_analysis_exception
    from lakeward.autoloader.excel_files import read_excel

    state = _reader_state(reader)
    path = path if path is not None else state.options.get("path")
    paths = [str(each) for each in path] if isinstance(path, (list, tuple)) else [str(path or "")]
    try:
        return read_excel(reader._spark, paths, state.options, state.parsed_schema())
    except CloudFilesError as error:
        raise to_analysis_exception(error) from None


def _make_excel(_: Any) -> Any:
    def excel(self: Any, path: Any, *arguments: Any, **named: Any) -> DataFrame:
        """Load Excel files; see `excel_arguments` for the arguments after `path`."""
        from lakeward.autoloader.excel_files import excel_arguments

        loaded: DataFrame = self.format("excel").options(**excel_arguments(*arguments, **named)).load(path)
        return loaded

    return excel


def _patch_start(before: Wrapped) -> Any:

    @wraps(before)
    def start(self: Any, *arguments: Any, **named: Any) -> Any:
        return start_query(self._df, lambda: before(self, *arguments, **named))

    return start


def _translate_errors(before: Wrapped) -> Any:

    @wraps(before)
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        from pyspark.errors import StreamingQueryException

        from lakeward.autoloader.error_translation import translate_query_exception

        try:
            return before(self, *arguments, **named)
        except StreamingQueryException as error:
            cleaned = translate_query_exception(error)
            if cleaned is error:
                raise
        raise cleaned

    return method


def _translate_exception(before: Wrapped) -> Any:

    @wraps(before)
    def exception(self: Any) -> Any:
        from lakeward.autoloader.error_translation import translate_query_exception

        return translate_query_exception(before(self))

    return exception


def _translate_read_errors(before: Wrapped) -> Any:

    @wraps(before)
    def convert_exception(e: Any) -> Any:
        from lakeward.autoloader.error_translation import translate_read_exception

        return translate_read_exception(before(e))

    return convert_exception


def patch_from_json(before: classmethod[Any, ..., Any]) -> Any:
    """Wrap `StreamingQueryProgress.fromJson` to rewrite the JSON first."""

    def from_json(cls: Any, progress: dict[str, Any]) -> Any:
        return before.__get__(None, cls)(to_databricks_progress(progress) or progress)

    return classmethod(from_json)


def patch_from_java(before: classmethod[Any, ..., Any]) -> Any:
    """Wrap `StreamingQueryProgress.fromJObject`, which listeners use, to rewrite sources."""

    def from_java(cls: Any, progress: Any) -> Any:
        made = before.__get__(None, cls)(progress)
        shown = to_databricks_progress(json.loads(progress.json()))
        if shown is not None:
            for source, words in zip(made["sources"], shown["sources"], strict=True):
                source.update(description=words["description"], metrics=words.get("metrics", {}))
                use_python_progress(source, words)
            use_python_progress(made, shown)
        return made

    return classmethod(from_java)


_READER = "pyspark.sql.streaming.readwriter:DataStreamReader"
_WRITER = "pyspark.sql.streaming.readwriter:DataStreamWriter"
_BATCH_READER = "pyspark.sql.readwriter:DataFrameReader"
_QUERY = "pyspark.sql.streaming.query:StreamingQuery"
_PROGRESS = "pyspark.sql.streaming.listener:StreamingQueryProgress"
_FORMAT, _BINDING = "Auto Loader: format('cloudFiles')", "Auto Loader: a source learns its checkpoint"
_EXCEL = "spark.read reads Excel files, as on Databricks"
_CLEAN = "Auto Loader: errors without Spark's wrapping"
_METRICS = "Auto Loader: description and metrics of a source"
PATCHES = tuple(
    PatchSpec(owner, name, "autoloader", reason, make, Order.SOURCE)
    for owner, name, make, reason in (
        (_READER, "format", _recording(_record_format), _FORMAT),
        (_READER, "schema", _recording(_record_schema), _FORMAT),
        (_READER, "option", _recording(_record_option), _FORMAT),
        (_READER, "options", _recording(_record_options), _FORMAT),
        (_READER, "load", _patch_stream_load, _FORMAT),
        (_BATCH_READER, "format", _recording(_record_format), _FORMAT),
        (_BATCH_READER, "load", _patch_batch_load, _FORMAT),
        (_BATCH_READER, "schema", _recording(_record_schema), _EXCEL),
        (_BATCH_READER, "option", _recording(_record_option), _EXCEL),
        (_BATCH_READER, "options", _recording(_record_options), _EXCEL),
        (_BATCH_READER, "excel", _make_excel, _EXCEL),
        (_WRITER, "start", _patch_start, _BINDING),
        (_WRITER, "toTable", _patch_start, _BINDING),
        (_QUERY, "awaitTermination", _translate_errors, _CLEAN),
        (_QUERY, "processAllAvailable", _translate_errors, _CLEAN),
        (
            "pyspark.sql.streaming.query:StreamingQueryManager",
            "awaitAnyTermination",
            _translate_errors,
            _CLEAN,
        ),
        (_QUERY, "exception", _translate_exception, _CLEAN),
        ("pyspark.errors.exceptions.captured", "convert_exception", _translate_read_errors, _CLEAN),
        (_PROGRESS, "fromJson", patch_from_json, _METRICS),
        (_PROGRESS, "fromJObject", patch_from_java, _METRICS),
    )
)
