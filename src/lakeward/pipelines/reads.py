"""Reading by name while an update runs: the names of the pipeline's datasets go through a `Reader`.

PySpark's own methods are replaced only inside `intercepting`; a name that is none of the pipeline's is
handed on to Spark unchanged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from lakeward.errors import PipelineError
from lakeward.pipelines import outside
from lakeward.pipelines.in_sql import blank_live
from lakeward.session import patches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Reader", "dataset", "intercepting", "table"]

_WHY = "pipelines resolve their own datasets first"


class Reader(Protocol):
    """Answers for the datasets of the running pipeline."""

    def read(self, name: str, *, stream: bool, strict: bool = False) -> DataFrame | str:
        """A view's DataFrame, or the name that Spark should read; `strict` admits only datasets."""

    def before_sql(self, text: str) -> None:
        """Make everything ready that the SQL `text` reads."""

    def schema_place(self) -> str | None:
        """Where the next Auto Loader stream keeps its schema unless it says so itself."""

    def open(self, name: str, *, stream: bool) -> DataFrame:
        """Read a name with Spark."""


_reader: Reader | None = None


def dataset(name: str, *, stream: bool) -> Any:
    """What `dp.read` and `dp.read_stream` give. Raises PipelineError outside of a dataset function."""
    if _reader is None and outside.is_outside():
        return outside.open_table(name, stream=stream)
    if _reader is None:
        raise PipelineError(
            "READ_OUTSIDE_OF_DATASET_FUNCTION",
            f"The dataset `{name}` was read while the pipeline's files are still being collected.",
            next_step="Read datasets of the pipeline inside of dataset functions.",
        )
    found = _reader.read(name, stream=stream, strict=True)
    return _reader.open(found, stream=stream) if isinstance(found, str) else found


def table(name: str, *, stream: bool) -> Any:
    """A dataset of the pipeline or any other table, as `spark.readStream.table` in a function gives it."""
    assert _reader is not None, "only flows of a running update read"
    found = _reader.read(name, stream=stream)
    return _reader.open(found, stream=stream) if isinstance(found, str) else found


@contextmanager
def intercepting(reader: Reader) -> Iterator[None]:
    """A block in which Spark's readers ask `reader` about every name."""
    global _reader  # noqa: PLW0603  # the readers that are replaced are global as well
    from pyspark.sql import DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    previous, _reader = _reader, reader
    with (
        _replaced(SparkSession, "table", _by_name(SparkSession.table, stream=False)),
        _replaced(DataFrameReader, "table", _by_name(DataFrameReader.table, stream=False)),
        _replaced(DataStreamReader, "table", _by_name(DataStreamReader.table, stream=True)),
        _replaced(DataStreamReader, "format", _format(DataStreamReader.format)),
        _replaced(SparkSession, "sql", _sql(SparkSession.sql)),
    ):
        try:
            yield
        finally:
            _reader = previous


def _by_name(method: Callable[..., Any], *, stream: bool) -> Callable[..., Any]:
    @functools.wraps(method)
    def table(self: Any, tableName: str) -> Any:  # PySpark's own parameter name
        found = _reader.read(tableName, stream=stream) if _reader else tableName
        return method(self, found) if isinstance(found, str) else found

    return table


def _format(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def format(self: Any, source: str) -> Any:  # noqa: A001  # the method that it replaces
        reader = method(self, source)
        place = _reader.schema_place() if _reader and str(source).lower() == "cloudfiles" else None
        return reader.option("cloudFiles.schemaLocation", place) if place else reader

    return format


def _sql(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def sql(self: Any, sqlQuery: str, *args: Any, **kwargs: Any) -> Any:
        if _reader and isinstance(sqlQuery, str):
            text = blank_live(sqlQuery)
            _reader.before_sql(text)
            return method(self, text, *args, **kwargs)
        return method(self, sqlQuery, *args, **kwargs)

    return sql


@contextmanager
def _replaced(owner: type, attribute: str, replacement: Callable[..., Any]) -> Iterator[None]:
    """Another room may have replaced the same attribute: then its replacement is given back."""
    before = vars(owner)[attribute]
    patches.replace(owner, attribute, replacement, why=_WHY)
    try:
        yield
    finally:
        if before is patches.original(owner, attribute):
            patches.undo(owner, attribute)
        else:
            patches.replace(owner, attribute, before, why=_WHY)
