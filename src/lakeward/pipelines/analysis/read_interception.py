"""Lets Spark's readers resolve names, and `from_json` its schema, with the update that is running."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.autoloader import schema_location_key
from lakeward.patching import Order, PatchSpec, applied
from lakeward.pipelines.analysis.dataset_names import blank_live
from lakeward.pipelines.graph.session_scope import DatasetReader, active_reader, use_reader
from lakeward.spark_internals import java_function, session_of
from lakeward.sql import register_function

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REASON = "pipelines resolve their own datasets first"


@contextmanager
def intercept_reads(reader: DatasetReader) -> Iterator[None]:
    """Let Spark's readers resolve every name with `reader` until the block ends."""
    with use_reader(reader), applied(PATCHES), register_function("from_json", _json_parser):
        yield


def _json_parser(spark: SparkSession, *, positional: list[Any], named: Mapping[str, Any]) -> Any:
    """Return the parser of a `from_json` call without a schema; nothing if the call infers none."""
    del named
    reader, options = active_reader(spark), positional[0] if isinstance(positional[0], dict) else {}
    key = schema_location_key(options)
    column = reader.json_column(key, options) if reader is not None and key else None
    return {} if column is None else java_function(column.parser())


def _table_method(method: Callable[..., Any], *, stream: bool) -> Callable[..., Any]:
    @functools.wraps(method)
    def table(self: Any, tableName: str) -> Any:  # PySpark's own parameter name
        reader = active_reader(session_of(self))
        found = reader.read(tableName, stream=stream) if reader else tableName
        return method(self, found) if isinstance(found, str) else found

    return table


def _format_method(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def format(self: Any, source: str) -> Any:  # noqa: A001  # the method that it replaces
        reader = method(self, source)
        active = active_reader(session_of(self))
        location = active.schema_location() if active and str(source).lower() == "cloudfiles" else None
        return reader.option("cloudFiles.schemaLocation", location) if location else reader

    return format


def _sql_method(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def sql(self: Any, sqlQuery: str, *args: Any, **kwargs: Any) -> Any:
        reader = active_reader(self)
        if reader and isinstance(sqlQuery, str):
            text = reader.before_sql(blank_live(sqlQuery))
            return method(self, text, *args, **kwargs)
        return method(self, sqlQuery, *args, **kwargs)

    return sql


PATCHES = tuple(
    PatchSpec(owner, name, "pipelines", _REASON, make, Order.PIPELINE)
    for owner, name, make in (
        ("pyspark.sql.session:SparkSession", "table", functools.partial(_table_method, stream=False)),
        ("pyspark.sql.session:SparkSession", "sql", _sql_method),
        ("pyspark.sql.readwriter:DataFrameReader", "table", functools.partial(_table_method, stream=False)),
        (
            "pyspark.sql.streaming.readwriter:DataStreamReader",
            "table",
            functools.partial(_table_method, stream=True),
        ),
        ("pyspark.sql.streaming.readwriter:DataStreamReader", "format", _format_method),
    )
)
