"""`DeltaTable.forName` in any catalog: Delta looks up names without a catalog in the session catalog only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.session import patches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["install"]


def install() -> None:
    """Make `DeltaTable.forName(spark, "t")` and `"s.t"` mean the current catalog's tables."""
    from delta.tables import DeltaTable

    def for_name(cls: Any, sparkSession: SparkSession, tableOrViewName: str) -> Any:
        plain = patches.original(DeltaTable, "forName")
        call = plain.__func__ if isinstance(plain, classmethod) else plain
        return call(cls, sparkSession, _qualified(sparkSession, tableOrViewName))

    patches.replace(
        DeltaTable, "forName", classmethod(for_name), why="names without a catalog are the current catalog's"
    )


def _qualified(spark: SparkSession, name: str) -> str:
    parts = spark._jsparkSession.sessionState().sqlParser().parseMultipartIdentifier(name)
    count = parts.length()
    if count > 2 or (count == 2 and parts.apply(0) == "delta"):
        return name
    given = [parts.apply(i) for i in range(count)]
    if count == 1:
        given.insert(0, spark.catalog.currentDatabase())
    given.insert(0, spark.catalog.currentCatalog())
    return ".".join(f"`{p}`" for p in given)
