"""The slowest operators of an update, from the metrics that Spark keeps of its queries."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.names import Key
from lakeward.spark_internals import java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("lakeward.pipelines")
_MOST = 20
_TAGS = "spark.job.tags"


class OperatorTimes:
    """Marks the queries of each dataset with a job tag, and finds their slowest operators by it.

    Streams and threads inherit the tag of the thread that starts them. Spark keeps the newest 1,000 queries
    (`spark.sql.ui.retainedExecutions`); earlier ones are not counted.
    """

    def __init__(self, spark: SparkSession, update_id: str) -> None:
        self._spark, self._prefix = spark, f"lakeward-{update_id}-"
        self._datasets: list[Key] = []
        self._current: Key | None = None
        self._users_tags: str | None = spark.sparkContext.getLocalProperty(_TAGS)

    def enter(self, dataset: Key) -> None:
        """Mark the queries that this thread starts from now on."""
        if dataset == self._current:
            return
        self._current = dataset
        if dataset not in self._datasets:
            self._datasets.append(dataset)
        tag = f"{self._prefix}{self._datasets.index(dataset)}"
        tags = f"{self._users_tags},{tag}" if self._users_tags else tag
        self._spark.sparkContext.setLocalProperty(_TAGS, tags)

    def leave(self) -> None:
        """Restore the thread's own tags: the update has ended, or was interrupted."""
        self._current = None
        self._spark.sparkContext.setLocalProperty(_TAGS, self._users_tags)  # type: ignore[arg-type]

    def slowest(self) -> list[dict[str, Any]]:
        """Return the slowest operators, the slowest first.

        Each has `dataset`, `operator`, `milliseconds` summed over tasks and queries, the number of `queries`,
        and where the operator counts them `rows`, `read_bytes`, `shuffled_bytes` and `spilled_bytes`.
        Empty if Spark's metrics cannot be read: the tables of the update are complete.
        """
        try:
            times = jvm_view(self._spark).lakeward.OperatorTimes
            found = json.loads(times.slowest(java_session(self._spark), self._prefix, _MOST))
        except Exception as error:  # noqa: BLE001  # as above
            log.warning("The metrics of the update's queries cannot be read: %s", error)
            return []
        for each in found:
            each["dataset"] = ".".join(self._datasets[int(each.pop("tag").removeprefix(self._prefix))])
        return list(found)
