"""Exact counts of writes, batch and stream.

Spark's `Observation` never reports for Delta's CREATE OR REPLACE, and a stream's progress loses the metrics
when Delta has to cast a column. But the execution in which Delta writes the files always carries them: it
is named `deltaTransactionalWrite`, and a listener sees it (those of streams too, their sessions are clones),
for an empty result as well. A metric can still be wrong: a global sort above `observe` runs its input twice.
So a count is only believed when it agrees with `numOutputRows` of the commits; a batch query is otherwise
counted by a query of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.expectations import Counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Metrics", "listening"]

_WRITE = "deltaTransactionalWrite"
_PATIENCE_MS = 30_000


class Metrics:
    """Metrics of finished Delta writes by name. The methods in camel case are Spark's interface."""

    class Java:
        implements = ["org.apache.spark.sql.util.QueryExecutionListener"]  # noqa: RUF012  # read by py4j

    def __init__(self, spark: SparkSession) -> None:
        self._bus = spark.sparkContext._jsc.sc().listenerBus()
        self._wanted: set[str] = set()
        self._found: dict[str, list[Counts]] = {}

    def want(self, names: set[str]) -> None:
        """Metrics to keep from now on, none yet."""
        self._wanted |= names
        for name in names:
            self._found.pop(name, None)

    def take(self, names: set[str]) -> dict[str, list[Counts]]:
        """What each write since `want` reported, by metric, once every event has been delivered."""
        self._bus.waitUntilEmpty(_PATIENCE_MS)
        self._wanted -= names
        return {name: self._found.pop(name) for name in names if name in self._found}

    def onSuccess(self, name: str, execution: Any, _duration: int) -> None:  # noqa: N802
        if name != _WRITE or not self._wanted:
            return
        metrics = execution.observedMetrics()
        for wanted in list(self._wanted):
            row = metrics.get(wanted)
            if row.isDefined():
                values = row.get()
                counts = Counts.of([values.getLong(i) for i in range(values.length())])
                self._found.setdefault(wanted, []).append(counts)

    def onFailure(self, name: str, execution: Any, error: Any) -> None:  # noqa: N802
        """A failed write has no counts."""


@contextmanager
def listening(spark: SparkSession) -> Iterator[Metrics]:
    """A block in which metrics of Delta writes arrive."""
    from pyspark.java_gateway import ensure_callback_server_started

    start: Any = ensure_callback_server_started
    start(spark.sparkContext._gateway)
    metrics = Metrics(spark)
    manager = spark._jsparkSession.listenerManager()
    manager.register(metrics)
    try:
        yield metrics
    finally:
        manager.unregister(metrics)
