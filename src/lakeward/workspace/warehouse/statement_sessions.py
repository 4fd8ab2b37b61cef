"""Spark sessions for statements: a new one for each, created ahead of need, or the one of its client.

Parameters of Databricks SQL: https://docs.databricks.com/sql/language-manual/sql-ref-parameters
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import (
    activated,
    catalog_manager,
    executed_plan,
    java_array,
    jvm_view,
    scala_context,
    set_current_schema,
)
from lakeward.sql import SQL_PARAMETERS, STATEMENT_TIMEOUT, WAREHOUSE_SESSION, end_session, set_timeout
from lakeward.workspace.warehouse.engine import CONCURRENT_STATEMENTS
from lakeward.workspace.warehouse.execution import SessionOrder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings

_AHEAD = 2


def scheduling_conf() -> dict[str, str]:
    """Return settings with which a statement of long tasks leaves processors to the others.

    Spark does not interrupt a task for the sake of another one, so each statement needs task slots of its
    own; the operating system divides the processors among them.
    """
    from lakeward.session import available_cores

    return {
        "spark.master": f"local[{available_cores() * CONCURRENT_STATEMENTS}]",
        "spark.default.parallelism": str(available_cores()),
    }


class SessionPool:
    """Gives each statement a session that no statement has used: settings, views and variables end with it.

    The first query of a session costs a tenth of a second more than the next ones (its catalogs and its
    analyzer are made lazily), so sessions are made and warmed up in a background thread.
    """

    def __init__(self, settings: Settings) -> None:
        from lakeward.session import session, use_daemon

        use_daemon()
        self._settings = settings.with_(conf={**scheduling_conf(), **settings.conf})
        self._base = session(self._settings)
        self.context: Any = scala_context(self._base.sparkContext)
        jvm: Any = jvm_view(self._base)
        # Each name of a Java package costs a round trip: resolved once, not with each statement.
        self.jvm_thread: Any = jvm.java.lang.Thread
        self._making = threading.Lock()
        self._opened: dict[str, SparkSession] = {}
        self._ready: queue.SimpleQueue[SparkSession] = queue.SimpleQueue()
        self._refill = threading.Event()
        threading.Thread(target=self._keep_filled, name="sessions", daemon=True).start()

    @contextmanager
    def session(self, opened: str | None = None) -> Iterator[SparkSession]:
        """Yield a session, active in this thread.

        Args:
            opened: The id of a session that was opened; by default a new one in the catalog and schema of the
                settings.

        Raises:
            LookupError: The session has been closed.
        """
        if opened is None:
            spark = self._take()
        elif opened in self._opened:
            spark = self._opened[opened]
        else:
            raise LookupError("Invalid SessionHandle")
        with activated(spark):
            self._admit_new_catalogs(spark)
            try:
                yield spark
            finally:
                if opened is None:
                    end_session(spark)

    def open(self, key: str, order: SessionOrder) -> None:
        """Open the session that statements name by `key`."""
        spark = self._take()
        with activated(spark):
            self._admit_new_catalogs(spark)
            enter(spark, order.catalog, None)
            if order.schema:
                # dbt creates the schema that it connects to.
                set_current_schema(spark, order.schema.lower())
            configure(spark, order.configuration)
        self._opened[key] = spark

    def close(self, key: str) -> None:
        """Close a session with its views and variables; an open transaction is rolled back."""
        spark = self._opened.pop(key, None)
        if spark is not None:
            with activated(spark):
                end_session(spark)

    def _take(self) -> SparkSession:
        try:
            fresh = self._ready.get_nowait()
        except queue.Empty:
            fresh = self._make()
        self._refill.set()
        return fresh

    def _make(self) -> SparkSession:
        with self._making:
            fresh: SparkSession = self._base.newSession()
        fresh.conf.set(WAREHOUSE_SESSION, "true")
        executed_plan(fresh.sql("SELECT 1"))
        return fresh

    def _keep_filled(self) -> None:
        while True:
            while self._ready.qsize() < _AHEAD:
                self._ready.put(self._make())
            self._refill.wait()
            self._refill.clear()

    def _admit_new_catalogs(self, fresh: SparkSession) -> None:
        """Register the catalogs that were created after the session was made."""
        from lakeward.session import ensure_catalog

        manager = catalog_manager(fresh)
        for folder in self._settings.warehouse.iterdir():
            name = folder.name
            if folder.is_dir() and "." not in name and not manager.isCatalogRegistered(name):
                ensure_catalog(fresh, name)


# Accepted without effect: of the platform's cache, engine and history, and of the layout of results, which
# the messages name themselves.
_IGNORED = (
    "enable_photon",
    "query_tags",
    "read_only_external_metastore",
    "use_cached_result",
)
_IGNORED_PREFIX = "spark.thriftserver."


def enter(spark: SparkSession, catalog: str | None, schema: str | None) -> None:
    """Make `catalog` and `schema` the current ones of the session."""
    manager = catalog_manager(spark)
    if catalog:
        manager.setCurrentCatalog(catalog.lower())
    if schema:
        manager.setCurrentNamespace(java_array(spark, schema.lower()))


def configure(spark: SparkSession, configuration: Mapping[str, str]) -> None:
    """Set the parameters of a session. Raises Spark's error for an invalid or static one."""
    for name, value in configuration.items():
        lowered = name.lower()
        if lowered == STATEMENT_TIMEOUT:
            set_timeout(spark, value)
        elif lowered not in _IGNORED and not lowered.startswith(_IGNORED_PREFIX):
            spark.conf.set(SQL_PARAMETERS.get(lowered, name), value)
