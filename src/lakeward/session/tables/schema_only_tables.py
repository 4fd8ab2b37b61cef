"""Planned datasets: names that answer with a schema and no rows, touching no disk.

Phase 1 of a pipeline evaluates every dataset function against them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


class SchemaOnlyTables:
    """The planned datasets of one block."""

    def __init__(self, jvm: Any) -> None:
        self._tables = jvm.lakeward.PlannedTable
        self._names: set[str] = set()
        self._schemas: set[str] = set()

    def add_schema(self, name: str) -> None:
        """From now on the schema `name` (catalog.schema) exists: it can be entered, and USE finds it."""
        self._tables.addSchema(name)
        self._schemas.add(name)

    def add(self, name: str, schema: StructType) -> None:
        """From now on `name` (catalog.schema.table) reads as an empty table, batch and stream."""
        self.add_schema(name.rpartition(".")[0])
        self._tables.add(name, schema.json())
        self._names.add(name)

    def remove(self, name: str) -> None:
        """The real table, if any, answers for `name` again."""
        self._tables.remove(name)
        self._names.discard(name)

    def clear(self) -> None:
        """Forget all of them."""
        for name in list(self._names):
            self.remove(name)
        for name in self._schemas:
            self._tables.removeSchema(name)
        self._schemas.clear()


@contextmanager
def schema_only_tables(spark: SparkSession) -> Iterator[SchemaOnlyTables]:
    """A block in which datasets can be planned; at its end the real tables answer again."""
    planning = SchemaOnlyTables(jvm_view(spark))
    try:
        yield planning
    finally:
        planning.clear()
