"""Exact row counts of Delta writes, batch and stream.

Spark's `Observation` never reports for Delta's CREATE OR REPLACE, and a stream's progress loses the metrics
when Delta casts a column. The execution in which Delta writes the files always carries them: it is named
`deltaTransactionalWrite`, and a listener sees it, for empty results and for streams (whose sessions are
clones) as well. A metric can still be wrong: a global sort above `observe` runs its input twice. A count
is therefore trusted only when it agrees with `numOutputRows` of the commits; otherwise a batch query is
counted by a separate query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.expectations import ExpectationCounts
from lakeward.spark_internals import java_gateway, java_session, scala_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
_WRITE_EXECUTION = "deltaTransactionalWrite"
_TIMEOUT_MS = 30_000


class WriteMetrics:
    """Metrics of finished Delta writes by name. Methods in camel case implement Spark's interface."""

    class Java:
        implements = ["org.apache.spark.sql.util.QueryExecutionListener"]  # noqa: RUF012  # read by py4j

    def __init__(self, spark: SparkSession) -> None:
        self._bus = scala_context(spark.sparkContext).listenerBus()
        self._watched: set[str] = set()
        self._found: dict[str, list[ExpectationCounts]] = {}

    def watch(self, names: set[str]) -> None:
        """Start collecting the metrics `names`."""
        self._watched |= names
        for name in names:
            self._found.pop(name, None)

    def take(self, names: set[str]) -> dict[str, list[ExpectationCounts]]:
        """Return the reports of each metric since `watch`, after all events have been delivered."""
        self._bus.waitUntilEmpty(_TIMEOUT_MS)
        self._watched -= names
        return {name: self._found.pop(name) for name in names if name in self._found}

    def onSuccess(self, name: str, execution: Any, _duration: int) -> None:  # noqa: N802
        if name != _WRITE_EXECUTION or not self._watched:
            return
        metrics = execution.observedMetrics()
        for metric in list(self._watched):
            row = metrics.get(metric)
            if row.isDefined():
                values = row.get()
                counts = ExpectationCounts.of([values.getLong(i) for i in range(values.length())])
                self._found.setdefault(metric, []).append(counts)

    def onFailure(self, name: str, execution: Any, error: Any) -> None:  # noqa: N802
        """Ignore failed writes."""


@contextmanager
def listen_to_writes(spark: SparkSession) -> Iterator[WriteMetrics]:
    """Collect metrics of Delta writes until the block ends."""
    from pyspark.java_gateway import ensure_callback_server_started

    start: Any = ensure_callback_server_started
    start(java_gateway(spark))
    metrics = WriteMetrics(spark)
    manager = java_session(spark).listenerManager()
    manager.register(metrics)
    try:
        yield metrics
    finally:
        manager.unregister(metrics)
