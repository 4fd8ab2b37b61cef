"""Planned datasets: names that answer with a schema and no rows, touching no disk.

Phase 1 of a pipeline evaluates every dataset function against them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["Planning", "planned"]


class Planning:
    """The planned datasets of one block."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self._names: set[str] = set()

    def add(self, name: str, schema: StructType) -> None:
        """From now on `name` (catalog.schema.table) reads as an empty table, batch and stream."""
        self._jvm.lakeward.PlannedTable.add(name, schema.json())
        self._names.add(name)

    def remove(self, name: str) -> None:
        """The real table, if any, answers for `name` again."""
        self._jvm.lakeward.PlannedTable.remove(name)
        self._names.discard(name)

    def clear(self) -> None:
        """Forget all of them."""
        for name in list(self._names):
            self.remove(name)


@contextmanager
def planned(spark: SparkSession) -> Iterator[Planning]:
    """A block in which datasets can be planned; at its end the real tables answer again."""
    planning = Planning(spark._jvm)
    try:
        yield planning
    finally:
        planning.clear()
