"""`DeltaTable.forName` and `DeltaTable.create…` in any catalog, and what may be seen of a table.

Delta looks up names without a catalog in the session catalog only, and gives the table past its policies.
Its builder takes names of two parts at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lakeward.session import patches

if TYPE_CHECKING:
    from delta.tables import DeltaTable
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["install"]

# On a DeltaTable: the name of a table that has policies.
_GOVERNED = "_lakeward_governed"
# On a builder: the full name of the table that it makes.
_NAMED = "_lakeward_named"


def install() -> None:
    """Make `DeltaTable.forName(spark, "t")` and `"s.t"` mean the current catalog's tables.

    `toDF()` of such a table gives what a query of its name gives; what is written goes to the table itself.
    """
    from delta.tables import DeltaTable, DeltaTableBuilder

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

    def table_name(self: Any, identifier: Any) -> Any:
        if isinstance(identifier, str):
            setattr(self, _NAMED, _parts(self._spark, identifier))
        return patches.original(DeltaTableBuilder, "tableName")(self, identifier)

    def execute(self: Any) -> DeltaTable:
        parts = vars(self).get(_NAMED)
        if parts is None:
            return cast("DeltaTable", patches.original(DeltaTableBuilder, "execute")(self))
        return _made(self, parts)

    why = "names of Delta's builder are those of SQL"
    patches.replace(DeltaTableBuilder, "tableName", table_name, why=why)
    patches.replace(DeltaTableBuilder, "execute", execute, why=why)
    patches.replace(DeltaTable, "toDF", to_df, why="row filters and column masks hold for every read by name")


def _made(builder: Any, parts: list[str]) -> DeltaTable:
    """Let Delta make the table in the current catalog's place, and give it by its full name."""
    from delta.tables import DeltaTable
    from pyspark.errors import AnalysisException

    catalog, schema, table = parts
    spark = builder._spark
    before = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    spark.catalog.setCurrentCatalog(catalog)
    try:
        builder._jbuilder.tableName(_quoted([schema, table])).execute()
    except AnalysisException as error:
        # Once the table is there, Delta looks for it in the session catalog.
        if error.getCondition() != "DELTA_MISSING_DELTA_TABLE":
            raise
    finally:
        spark.catalog.setCurrentCatalog(before[0])
        spark.catalog.setCurrentDatabase(before[1])
    return DeltaTable.forName(spark, _quoted(parts))


def _qualified(spark: SparkSession, name: str) -> str:
    parts = _parts(spark, name)
    return name if parts is None else _quoted(parts)


def _parts(spark: SparkSession, name: str) -> list[str] | None:
    """Catalog, schema and table of a name; None for a path."""
    found = spark._jsparkSession.sessionState().sqlParser().parseMultipartIdentifier(name)
    given = [found.apply(i) for i in range(found.length())]
    if len(given) > 3 or (len(given) == 2 and given[0] == "delta"):
        return None
    if len(given) == 1:
        given.insert(0, spark.catalog.currentDatabase())
    if len(given) == 2:
        given.insert(0, spark.catalog.currentCatalog())
    return given


def _quoted(parts: list[str]) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)
