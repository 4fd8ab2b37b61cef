"""`DeltaTable.forName` in any catalog, and what may be seen of its table.

Delta looks up names without a catalog in the session catalog only, and gives the table past its policies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lakeward.session import patches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["install"]

# On a DeltaTable: the name of a table that has policies.
_GOVERNED = "_lakeward_governed"


def install() -> None:
    """Make `DeltaTable.forName(spark, "t")` and `"s.t"` mean the current catalog's tables.

    `toDF()` of such a table gives what a query of its name gives; what is written goes to the table itself.
    """
    from delta.tables import DeltaTable

    def for_name(cls: Any, sparkSession: SparkSession, tableOrViewName: str) -> Any:
        plain = patches.original(DeltaTable, "forName")
        call = plain.__func__ if isinstance(plain, classmethod) else plain
        name = _qualified(sparkSession, tableOrViewName)
        jvm: Any = sparkSession._jvm
        session: Any = sparkSession._jsparkSession
        if not jvm.lakeward.PolicyRules.has(session, name):
            return call(cls, sparkSession, name)
        table = cls(sparkSession, jvm.lakeward.PolicyRules.table(session, name))
        setattr(table, _GOVERNED, name)
        return table

    def to_df(self: Any) -> DataFrame:
        name = vars(self).get(_GOVERNED)
        if name is not None:
            return cast("SparkSession", self._spark).table(name)
        return cast("DataFrame", patches.original(DeltaTable, "toDF")(self))

    patches.replace(
        DeltaTable, "forName", classmethod(for_name), why="names without a catalog are the current catalog's"
    )
    patches.replace(DeltaTable, "toDF", to_df, why="row filters and column masks hold for every read by name")


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
