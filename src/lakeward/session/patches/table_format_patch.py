"""`saveAsTable` appends to a table of the writer's format alone, as in Spark's own catalog.

Spark compares the formats for tables of its session catalog (`PreprocessTableCreation`). For others it
ignores the writer's format, so that `format("parquet")` appended to a Delta table.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec
from lakeward.spark_internals import require_format_of_table


def _save_as_table(before: Any) -> Any:
    @wraps(before)
    def saveAsTable(  # noqa: N802  # as PySpark names it
        self: Any,
        name: str,
        format: Any = None,
        mode: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if format is not None:
            self.format(format)
        self.mode(mode)
        require_format_of_table(self, name)
        before(self, name, None, None, *args, **kwargs)

    return saveAsTable


PATCHES = (
    PatchSpec(
        "pyspark.sql.readwriter:DataFrameWriter",
        "saveAsTable",
        "session",
        "rows of another format are not appended to a table",
        _save_as_table,
    ),
)
