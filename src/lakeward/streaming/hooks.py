"""What stands in the places of PySpark's own methods."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any

from lakeward.session import in_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["reading", "table", "warning"]


def table(before: Any) -> Any:
    """`writeStream.table(name)`: the platform's older name of `toTable`."""
    del before

    def table(self: Any, tableName: str) -> Any:  # as `toTable` names it
        """Start the query; its rows go to the table of this name."""
        return self.toTable(tableName)

    return table


def warning(before: Any) -> Any:
    """`trigger`, with a warning for `once=True`."""

    @wraps(before)
    def trigger(self: Any, *arguments: Any, **named: Any) -> Any:
        if named.get("once"):
            warnings.warn(
                "trigger(once=True) is deprecated: it takes everything in one batch, whatever the limits."
                " Use trigger(availableNow=True).",
                DeprecationWarning,
                stacklevel=2,
            )
        return before(self, *arguments, **named)

    return trigger


def reading(before: Any) -> Any:
    """`readStream.table`: a view is read as its query over streams of its tables."""

    @wraps(before)
    def table(self: Any, tableName: str) -> Any:  # as PySpark names it
        view = _view(self._spark, tableName)
        if view is None:
            return before(self, tableName)
        from pyspark.sql import DataFrame

        spark = self._spark
        return DataFrame(spark._jvm.lakeward.StreamOfView.of(spark._jsparkSession, view), spark)

    return table


def _view(spark: SparkSession, name: str) -> Any:
    """The persistent view of this name; None for a temporary one, a table, and a name that is nothing."""
    state = spark._jsparkSession.sessionState()
    parts = state.sqlParser().parseMultipartIdentifier(name)
    given = [parts.apply(index) for index in range(parts.length())]
    if len(given) > 3 or (len(given) == 1 and state.catalog().getTempView(given[0]).isDefined()):
        return None
    found = in_catalog(spark, given)
    if found is None or found[0].getClass().getName() != "lakeward.Catalog":
        return None
    catalog, identifier = found
    return catalog.loadView(identifier) if catalog.viewExists(identifier) else None
