"""The places in PySpark where Auto Loader enters: readers, writers and what queries say when they fail."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from lakeward.errors import CloudFilesError
from lakeward.session import patches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["install", "patch", "register"]

_SEEN = "_lakeward_reader"
_registering = threading.Lock()


def install(spark: SparkSession) -> None:  # noqa: ARG001  # as every room's, for each session
    """Patch PySpark once; cheap, and harmless when repeated.

    `cloudFiles` is registered where it is loaded: with a session's first Python data source Spark starts a
    Python of its own to look for others, a second of every start.
    """
    patch()


def register(spark: SparkSession, source: Any) -> None:
    """Make a Python data source known to a session, once."""
    with _registering:
        if not spark._jsparkSession.sessionState().dataSourceManager().dataSourceExists(source.name()):
            _register(spark, source)


def _register(spark: SparkSession, source: Any) -> None:
    # Spark looks for a source of this name in the active session, whichever it registers in.
    sessions: Any = spark._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        spark.dataSource.register(source)
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())


class _Seen:
    """What was said to a reader so far; PySpark keeps it in the JVM, out of reach."""

    def __init__(self) -> None:
        self.format = ""
        self.schema: Any = None
        self.options: dict[str, str] = {}


def _seen(reader: Any) -> _Seen:
    found: _Seen = reader.__dict__.setdefault(_SEEN, _Seen())
    return found


def patch() -> None:
    """Change PySpark's readers, writers and queries, once a process; no session is needed."""
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery, StreamingQueryManager
    from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

    from lakeward.autoloader.progress import rewording_java, rewording_json

    format_, binding = "Auto Loader: format('cloudFiles')", "Auto Loader: a source learns its checkpoint"
    clean = "Auto Loader: errors without Spark's wrapping"
    progress = "Auto Loader: description and metrics of a source"
    changes: tuple[tuple[type, str, Callable[..., Any], str], ...] = (
        (DataStreamReader, "format", _noting_format, format_),
        (DataStreamReader, "schema", _noting_schema, format_),
        (DataStreamReader, "option", _noting_option, format_),
        (DataStreamReader, "options", _noting_options, format_),
        (DataStreamReader, "load", _stream_load, format_),
        (DataFrameReader, "format", _noting_format, format_),
        (DataFrameReader, "load", _batch_load, format_),
        (DataStreamWriter, "start", _starting, binding),
        (DataStreamWriter, "toTable", _starting, binding),
        (StreamingQuery, "awaitTermination", _cleaning, clean),
        (StreamingQuery, "processAllAvailable", _cleaning, clean),
        (StreamingQueryManager, "awaitAnyTermination", _cleaning, clean),
        (StreamingQuery, "exception", _cleaned, clean),
        (StreamingQueryProgress, "fromJson", rewording_json, progress),
        (StreamingQueryProgress, "fromJObject", rewording_java, progress),
    )
    there = {(patch.owner_name, patch.attribute) for patch in patches.installed()}
    for owner, name, change, why in changes:
        if (f"{owner.__module__}.{owner.__qualname__}", name) not in there:
            patches.replace(owner, name, change(patches.original(owner, name)), why=why)


def _noting_format(before: Any) -> Any:

    @wraps(before)
    def noting(self: Any, source: str) -> Any:
        _seen(self).format = str(source).lower()
        return before(self, source)

    return noting


def _noting_schema(before: Any) -> Any:

    @wraps(before)
    def schema(self: Any, schema: Any) -> Any:
        _seen(self).schema = schema
        return before(self, schema)

    return schema


def _noting_option(before: Any) -> Any:

    @wraps(before)
    def option(self: Any, key: str, value: Any) -> Any:
        _note(self, {key: value})
        return before(self, key, value)

    return option


def _noting_options(before: Any) -> Any:

    @wraps(before)
    def options(self: Any, **options: Any) -> Any:
        _note(self, options)
        return before(self, **options)

    return options


def _note(reader: Any, options: dict[str, Any]) -> None:
    from pyspark.sql.utils import to_str

    for key, value in options.items():
        text = to_str(value)
        if text is None:
            _seen(reader).options.pop(key.lower(), None)
        else:
            _seen(reader).options[key.lower()] = text


def _stream_load(before: Any) -> Any:

    @wraps(before)
    def load(self: Any, path: Any = None, format: Any = None, schema: Any = None, **options: Any) -> Any:
        if format is not None:
            self.format(format)
        if _seen(self).format != "cloudfiles":
            return before(self, path, None, schema, **options)
        if schema is not None:
            self.schema(schema)
        self.options(**options)
        return _load_cloud_files(self, before, path if path is None else str(path))

    return load


def _load_cloud_files(reader: Any, before: Any, path: str | None) -> Any:
    from pyspark.sql.types import StructType, _parse_datatype_string

    from lakeward.autoloader.definition import define
    from lakeward.autoloader.failures import at_definition
    from lakeward.autoloader.hidden import hide_metadata, raw_metadata
    from lakeward.autoloader.places import current_names, rendezvous
    from lakeward.autoloader.plan import METADATA, PLAN_OPTION
    from lakeward.autoloader.source import CloudFilesDataSource

    seen, spark = _seen(reader), reader._spark
    register(spark, CloudFilesDataSource)
    schema: Any = _parse_datatype_string(seen.schema) if isinstance(seen.schema, str) else seen.schema
    path = path if path is not None else seen.options.get("path")
    try:
        plan, columns = define(
            spark,
            path=path,
            given=seen.options,
            schema=schema,
            names=current_names(),
            rendezvous=rendezvous(),
        )
    except CloudFilesError as error:
        raise at_definition(error) from None
    own_metadata = METADATA in columns.names
    metadata = [] if own_metadata else [raw_metadata()]
    full = StructType([*columns.fields, *metadata])
    reader = spark.readStream.format("cloudFiles").schema(full)
    # `path` itself would make Spark resolve it as one of its own.
    raw = before(reader.option(PLAN_OPTION, plan.as_json()))
    return raw if own_metadata else hide_metadata(raw, columns.names)


def _batch_load(before: Any) -> Any:

    @wraps(before)
    def load(self: Any, path: Any = None, format: Any = None, schema: Any = None, **options: Any) -> Any:
        from lakeward.autoloader.failures import at_definition, batch_usage

        if format is not None:
            self.format(format)
        if _seen(self).format == "cloudfiles":
            raise at_definition(batch_usage())
        return before(self, path, None, schema, **options)

    return load


def _starting(before: Any) -> Any:

    @wraps(before)
    def start(self: Any, *arguments: Any, **named: Any) -> Any:
        from lakeward.autoloader.starting import start_query

        return start_query(self._df, lambda: before(self, *arguments, **named))

    return start


def _cleaning(before: Any) -> Any:

    @wraps(before)
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        from pyspark.errors import StreamingQueryException

        from lakeward.autoloader.failures import clean

        try:
            return before(self, *arguments, **named)
        except StreamingQueryException as error:
            cleaned = clean(error)
            if cleaned is error:
                raise
        raise cleaned

    return method


def _cleaned(before: Any) -> Any:

    @wraps(before)
    def exception(self: Any) -> Any:
        from lakeward.autoloader.failures import clean

        return clean(before(self))

    return exception
