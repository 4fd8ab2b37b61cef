"""State that holds for a block: Spark settings, current catalog and schema, the reader of datasets."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

from lakeward.errors import ConfigurationError
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.session import temporary_conf
from lakeward.spark_internals import catalog_manager, java_array, session_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeward.autoloader import JsonColumn


@contextmanager
def pipeline_conf(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    from pyspark.errors import PySparkException

    with ExitStack() as stack:
        try:
            stack.enter_context(temporary_conf(spark, conf))
        except PySparkException as error:
            raise ConfigurationError(
                error.getCondition() or "INVALID_CONFIGURATION",
                f"The pipeline's configuration cannot be applied: {error}",
                next_step="Set static Spark settings in the configuration of the session.",
            ) from None
        yield


@contextmanager
def use_default_schema(spark: SparkSession, default_schema: DefaultSchema) -> Iterator[None]:
    """Set the current catalog and schema until the block ends; the schema need not exist."""
    from lakeward.session import schema_only_tables

    manager = catalog_manager(spark)
    catalog, namespace = manager.currentCatalog().name(), list(manager.currentNamespace())
    with schema_only_tables(spark) as planning:
        planning.add_schema(f"{default_schema.catalog}.{default_schema.schema}")
        _set_current(spark, default_schema.catalog, [default_schema.schema])
        try:
            yield
        finally:
            _set_current(spark, catalog, namespace)


def current_default_schema(spark: SparkSession) -> DefaultSchema:
    """Return the current catalog and schema."""
    manager = catalog_manager(spark)
    return DefaultSchema(manager.currentCatalog().name(), ".".join(manager.currentNamespace()))


def _set_current(spark: SparkSession, catalog: str, namespace: list[str]) -> None:
    manager = catalog_manager(spark)
    manager.setCurrentCatalog(catalog)
    manager.setCurrentNamespace(java_array(spark, *namespace))


class DatasetReader(Protocol):
    """Resolves reads by name against the datasets of the running pipeline."""

    def read(self, name: str, *, stream: bool, strict: bool = False) -> DataFrame | str:
        """Return a view's DataFrame, or the name that Spark reads; `strict` accepts only datasets."""

    def before_sql(self, text: str) -> str:
        """Prepare all datasets that the SQL `text` reads; return the text to run."""

    def schema_location(self) -> str | None:
        """Return the schema location of the next Auto Loader stream that sets none itself."""

    def json_column(self, key: str, options: Mapping[str, str]) -> JsonColumn | None:
        """Return the column of a `from_json` call with this schemaLocationKey; None outside of a flow."""

    def open(self, name: str, *, stream: bool) -> DataFrame:
        """Read a table with Spark."""


# Module state, not a context variable: the patched readers are also called by Spark's callback threads.
_active: DatasetReader | None = None
_standalone = threading.Lock()
# The id of the only session whose reads are resolved; None: those of all sessions are.
_only_session: str | None = None


def active_reader(spark: SparkSession | None = None) -> DatasetReader | None:
    """Return the reader of the running update, None outside of one.

    `spark` is the session that reads: statements of other sessions are not those of a standalone update.
    """
    if _only_session is not None and spark is not None and session_id(spark) != _only_session:
        return None
    return _active


@contextmanager
def resolve_reads_of(spark: SparkSession) -> Iterator[None]:
    """Resolve reads of this session alone until the block ends, and let one thread at a time do so.

    Standalone tables are updated where other threads run statements: in a warehouse, or in a notebook.
    """
    global _only_session  # noqa: PLW0603  # as above
    with _standalone:
        _only_session = session_id(spark)
        try:
            yield
        finally:
            _only_session = None


@contextmanager
def use_reader(reader: DatasetReader) -> Iterator[None]:
    """Resolve reads by name with `reader` until the block ends."""
    global _active  # noqa: PLW0603  # see above
    previous, _active = _active, reader
    try:
        yield
    finally:
        _active = previous


def read_table(name: str, *, stream: bool) -> DataFrame:
    """Read a dataset of the pipeline or any other table, as `spark.table` in a dataset function does."""
    assert _active is not None, "only flows of a running update read"
    found = _active.read(name, stream=stream)
    return _active.open(found, stream=stream) if isinstance(found, str) else found


def read_table_once(name: str) -> DataFrame:
    """Read what a one-time flow takes: all rows of a table, or the query of a view, which may be a stream."""
    assert _active is not None, "only flows of a running update read"
    found = _active.read(name, stream=True)
    return _active.open(found, stream=False) if isinstance(found, str) else found
