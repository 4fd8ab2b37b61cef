"""`DeltaTable.forName`, `create…` and `clone` for any catalog, with policies applied on reads.

Delta looks up names without a catalog in the session catalog only, and reads tables without their policies.
Its builder and its clones support names of at most two parts, and there are no deep clones.
"""

from __future__ import annotations

import re
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, cast

from lakeward.patching import PatchSpec, install
from lakeward.quoting import quote_name, quote_string
from lakeward.spark_internals import java_builder, java_session, jvm_view, split_identifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from delta.tables import DeltaTable
    from pyspark.sql import DataFrame, SparkSession

# Attribute of a DeltaTable: the name of a table with policies.
_GOVERNED = "_lakeward_governed"
# Attribute of a builder: the full name of its table.
_NAMED = "_lakeward_named"


def install_delta_patches() -> None:
    """Make `DeltaTable.forName(spark, "t")` and `"s.t"` mean the current catalog's tables.

    `toDF()` of such a table returns the rows of a query by name; writes go to the table itself.
    """
    install(PATCHES)


def _for_name(before: Any) -> Any:
    call = before.__func__

    def for_name(cls: Any, sparkSession: SparkSession, tableOrViewName: str) -> Any:
        name = _qualified(sparkSession, tableOrViewName)
        jvm: Any = jvm_view(sparkSession)
        session: Any = java_session(sparkSession)
        if not jvm.lakeward.PolicyRules.has(session, name):
            return call(cls, sparkSession, name)
        table = cls(sparkSession, jvm.lakeward.PolicyRules.table(session, name))
        setattr(table, _GOVERNED, name)
        return table

    return classmethod(for_name)


def _to_df(before: Any) -> Any:
    def to_df(self: Any) -> DataFrame:
        name = vars(self).get(_GOVERNED)
        if name is not None:
            return cast("SparkSession", self._spark).table(name)
        return cast("DataFrame", before(self))

    return to_df


def _table_name(before: Any) -> Any:
    def table_name(self: Any, identifier: Any) -> Any:
        if isinstance(identifier, str):
            setattr(self, _NAMED, _parts(self._spark, identifier))
        return before(self, identifier)

    return table_name


def _execute(before: Any) -> Any:
    def execute(self: Any) -> DeltaTable:
        parts = vars(self).get(_NAMED)
        if parts is None:
            return cast("DeltaTable", before(self))
        return _made(self, parts)

    return execute


def _detail(before: Any) -> Any:
    def detail(self: Any) -> DataFrame:
        from pyspark.sql import functions as F

        rows = cast("DataFrame", before(self))
        row = rows.first()
        name = "" if row is None else row["name"] or ""
        if not name.startswith("spark_catalog."):
            return rows
        _, database, table = name.split(".", 2)
        codec = cast("Any", jvm_view(self._spark)).lakeward.IdentifierCodec
        return rows.withColumn("name", F.lit(f"{codec.catalog(database)}.{codec.schema(database)}.{table}"))

    return detail


def _clone(before: Any) -> Any:
    def clone(
        self: Any,
        target: str,
        isShallow: bool = False,  # as Delta names it
        replace: bool = False,  # as above
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        return _cloned(self, "", target, isShallow, replace, properties)

    return wraps(before)(clone)


def _clone_at(before: Any, *, clause: str) -> Any:
    def clone_at(
        self: Any,
        moment: Any,
        target: str,
        isShallow: bool = False,  # as Delta names it
        replace: bool = False,  # as above
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        version = moment if isinstance(moment, int) else quote_string(moment)
        return _cloned(self, f" {clause} AS OF {version}", target, isShallow, replace, properties)

    return wraps(before)(clone_at)


def _cloned(
    source: Any,
    version: str,
    target: str,
    is_shallow: bool,  # as Delta's method
    replace: bool,  # as above
    properties: Mapping[str, str] | None,
) -> DeltaTable:
    """Clone a table by SQL, which has deep clones and names of any catalog.

    Args:
        source: The table.
        version: A clause with a version or a timestamp of the source, or an empty text.
        target: A name, or an absolute path.
        is_shallow: Whether the clone refers to the files of the source.
        replace: Whether an existing table is replaced.
        properties: Table properties that replace those of the source.

    Returns:
        The clone.
    """
    from delta.tables import DeltaTable

    DeltaTable._verify_clone_types(target, is_shallow, replace, properties)  # type: ignore[arg-type]  # takes None
    spark = source._spark
    row = source.detail().first()
    governed = vars(source).get(_GOVERNED)
    origin = governed or quote_name(["delta", row["location"]])
    is_path = target.startswith("/") or _SCHEME.match(target) is not None
    place = quote_name(["delta", target]) if is_path else _qualified(spark, target)
    pairs = ", ".join(f"{quote_string(k)} = {quote_string(v)}" for k, v in (properties or {}).items())
    spark.sql(
        f"CREATE {'OR REPLACE ' if replace else ''}TABLE {place} {'SHALLOW' if is_shallow else 'DEEP'} CLONE "
        f"{origin}{version}" + (f" TBLPROPERTIES ({pairs})" if pairs else "")
    )
    return DeltaTable.forPath(spark, target) if is_path else DeltaTable.forName(spark, target)


_SCHEME = re.compile(r"\w[\w+.-]*:/")
_TABLE, _BUILDER = "delta.tables:DeltaTable", "delta.tables:DeltaTableBuilder"
_BUILDER_NAMES = "names of Delta's builder are those of SQL"
_CLONES = "names of clones are those of SQL, and there are deep clones"
_POLICIES = "row filters and column masks hold for every read by name"
PATCHES = (
    PatchSpec(_TABLE, "forName", "session", "names without a catalog are the current catalog's", _for_name),
    PatchSpec(_TABLE, "toDF", "session", _POLICIES, _to_df),
    PatchSpec(_TABLE, "detail", "session", "the table's name has its catalog and schema", _detail),
    PatchSpec(_TABLE, "clone", "session", _CLONES, _clone),
    PatchSpec(_TABLE, "cloneAtVersion", "session", _CLONES, partial(_clone_at, clause="VERSION")),
    PatchSpec(_TABLE, "cloneAtTimestamp", "session", _CLONES, partial(_clone_at, clause="TIMESTAMP")),
    PatchSpec(_BUILDER, "tableName", "session", _BUILDER_NAMES, _table_name),
    PatchSpec(_BUILDER, "execute", "session", _BUILDER_NAMES, _execute),
)


def _made(builder: Any, parts: list[str]) -> DeltaTable:
    """Create the table at its path in the current catalog, and return it by its full name."""
    from delta.tables import DeltaTable
    from pyspark.errors import AnalysisException

    catalog, schema, table = parts
    spark = builder._spark
    before = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    spark.catalog.setCurrentCatalog(catalog)
    try:
        java_builder(builder).tableName(quote_name([schema, table])).execute()
    except AnalysisException as error:
        # After creation, Delta looks the table up in the session catalog.
        if error.getCondition() != "DELTA_MISSING_DELTA_TABLE":
            raise
    finally:
        spark.catalog.setCurrentCatalog(before[0])
        spark.catalog.setCurrentDatabase(before[1])
    return DeltaTable.forName(spark, quote_name(parts))


def _qualified(spark: SparkSession, name: str) -> str:
    parts = _parts(spark, name)
    return name if parts is None else quote_name(parts)


def _parts(spark: SparkSession, name: str) -> list[str] | None:
    """Return catalog, schema and table of a name; None for a path."""
    given = split_identifier(spark, name)
    if len(given) > 3 or (len(given) == 2 and given[0] == "delta"):
        return None
    if len(given) == 1:
        given.insert(0, spark.catalog.currentDatabase())
    if len(given) == 2:
        given.insert(0, spark.catalog.currentCatalog())
    return given
