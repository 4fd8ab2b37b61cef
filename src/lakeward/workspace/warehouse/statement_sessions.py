"""Pool of Spark sessions for statements: a new one for each, created ahead of need."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import activated, catalog_manager, executed_plan, jvm_view, scala_context
from lakeward.workspace.warehouse.engine import CONCURRENT_STATEMENTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings

_AHEAD = 2


def scheduling() -> dict[str, str]:
    """Settings with which a statement of long tasks leaves processors to the others.

    Spark does not interrupt a task for the sake of another one, so each statement needs task slots of its
    own; the operating system divides the processors among them.
    """
    from lakeward.session import cores

    return {
        "spark.master": f"local[{cores() * CONCURRENT_STATEMENTS}]",
        "spark.default.parallelism": str(cores()),
    }


class SessionPool:
    """Gives each statement a session that no statement has used: settings, views and variables end with it.

    The first query of a session costs a tenth of a second more than the next ones (its catalogs and its
    analyzer are made lazily), so sessions are made and warmed up in a background thread.
    """

    def __init__(self, settings: Settings) -> None:
        from lakeward.session import session, use_daemon

        use_daemon()
        self._settings = settings.with_(conf={**scheduling(), **settings.conf})
        self._base = session(self._settings)
        self.context: Any = scala_context(self._base.sparkContext)
        jvm: Any = jvm_view(self._base)
        # Each name of a Java package costs a round trip: resolved once, not with each statement.
        self.jvm_thread: Any = jvm.java.lang.Thread
        self._making = threading.Lock()
        self._ready: queue.SimpleQueue[SparkSession] = queue.SimpleQueue()
        self._refill = threading.Event()
        threading.Thread(target=self._keep_filled, name="sessions", daemon=True).start()

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        """Yield a session in the catalog and schema of the settings, active in this thread."""
        try:
            fresh = self._ready.get_nowait()
        except queue.Empty:
            fresh = self._make()
        self._refill.set()
        with activated(fresh):
            self._admit_new_catalogs(fresh)
            yield fresh

    def _make(self) -> SparkSession:
        with self._making:
            fresh: SparkSession = self._base.newSession()
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
