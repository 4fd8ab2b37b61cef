"""Schema-only tables: names with a schema and no rows, without files.

A pipeline's analysis evaluates every dataset function against them.
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
    """The schema-only tables of one block."""

    def __init__(self, jvm: Any) -> None:
        self._tables = jvm.lakeward.PlannedTable
        self._names: set[str] = set()
        self._schemas: set[str] = set()

    def add_schema(self, name: str) -> None:
        """Make the schema `name` (catalog.schema) exist for USE and name resolution."""
        self._tables.addSchema(name)
        self._schemas.add(name)

    def add(self, name: str, schema: StructType) -> None:
        """Make `name` (catalog.schema.table) read as an empty table, batch and stream."""
        self.add_schema(name.rpartition(".")[0])
        self._tables.add(name, schema.json())
        self._names.add(name)

    def remove(self, name: str) -> None:
        """Resolve `name` to the real table again, if there is one."""
        self._tables.remove(name)
        self._names.discard(name)

    def clear(self) -> None:
        """Remove all of them."""
        for name in list(self._names):
            self.remove(name)
        for name in self._schemas:
            self._tables.removeSchema(name)
        self._schemas.clear()


@contextmanager
def schema_only_tables(spark: SparkSession) -> Iterator[SchemaOnlyTables]:
    """Allow schema-only tables within the block; real tables are resolved again afterwards."""
    planning = SchemaOnlyTables(jvm_view(spark))
    try:
        yield planning
    finally:
        planning.clear()
