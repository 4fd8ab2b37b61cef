"""The schema of files that carry their types: those types, the wider one where files differ (§2.2)."""

from __future__ import annotations

from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from lakeward.autoloader.readers.arrow_fit import plain_type
from lakeward.autoloader.readers.columnar import Opened
from lakeward.autoloader.schema.merge import add_column, canonical

__all__ = ["ColumnarInference"]


class ColumnarInference:
    """Takes one file after the other."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._columns: dict[str, DataType] = {}

    def add(self, data: bytes) -> None:
        """A file's bytes; those of another format say nothing."""
        try:
            source = self._opened(data)
        except (ValueError, EOFError, OSError):
            return
        for field in source.schema:
            add_column(self._columns, field.name, from_arrow_type(plain_type(field.type)))

    def schema(self) -> StructType:
        """Columns in file order; one that is null throughout is a string."""
        found = [(name, canonical(dtype)) for name, dtype in self._columns.items()]
        return StructType([StructField(name, dtype) for name, dtype in found if dtype is not None])
