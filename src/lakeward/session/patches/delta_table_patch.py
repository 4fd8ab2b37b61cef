"""`DeltaTable.forName`, `create…`, `convertToDelta` and `clone` for any catalog; reads apply policies.

`update` and `delete` return a DataFrame with the numbers of rows, as `merge(…).execute()` in Delta itself.

Delta looks up names without a catalog in the session catalog only, and reads tables without their policies.
Its builder, its conversion and its clones support names of at most two parts, and there are no deep clones.
`toDF()` of a table with policies returns the rows of a query by name; writes go to the table itself.
"""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from lakeward.patching import PatchSpec, Wrapped
from lakeward.quoting import names_path, quote_identifier, quote_name, quote_properties, quote_string
from lakeward.session.paths import is_absolute
from lakeward.session.tables.catalogs import show_users_name
from lakeward.spark_internals import (
    frame_from_java,
    java_builder,
    java_delta_table,
    java_session,
    jvm_view,
    split_identifier,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from delta.tables import DeltaTable
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Attribute of a DeltaTable: the name of a table with policies.
_GOVERNED = "_lakeward_governed"
# Another one: the alias under which it is read.
_ALIAS = "_lakeward_alias"
# Attribute of a builder: the full name of its table.
_NAMED = "_lakeward_named"


def _for_name(before: classmethod[Any, ..., Any]) -> Any:
    call = before.__func__

    def for_name(cls: Any, sparkSession: SparkSession, tableOrViewName: str) -> Any:
        name = _qualify(sparkSession, tableOrViewName)
        jvm: Any = jvm_view(sparkSession)
        session: Any = java_session(sparkSession)
        if not jvm.lakeward.PolicyRules.has(session, name):
            return call(cls, sparkSession, name)
        table = cls(sparkSession, jvm.lakeward.PolicyRules.table(session, name))
        setattr(table, _GOVERNED, name)
        return table

    return classmethod(for_name)


def _to_df(before: Wrapped) -> Any:
    def to_df(self: Any) -> DataFrame:
        name = vars(self).get(_GOVERNED)
        if name is None:
            return cast("DataFrame", before(self))
        rows = cast("SparkSession", self._spark).table(name)
        alias = vars(self).get(_ALIAS)
        return rows if alias is None else rows.alias(alias)

    return to_df


def _alias(before: Wrapped) -> Any:
    @wraps(before)
    def alias(self: Any, aliasName: str) -> DeltaTable:
        named = before(self, aliasName)
        if _GOVERNED in vars(self):
            named.__dict__.update({_GOVERNED: vars(self)[_GOVERNED], _ALIAS: aliasName})
        return cast("DeltaTable", named)

    return alias


def _table_name(before: Wrapped) -> Any:
    def table_name(self: Any, identifier: Any) -> Any:
        if isinstance(identifier, str):
            setattr(self, _NAMED, _parts(self._spark, identifier))
        return before(self, identifier)

    return table_name


def _execute(before: Wrapped) -> Any:
    def execute(self: Any) -> DeltaTable:
        parts = vars(self).get(_NAMED)
        if parts is None:
            return cast("DeltaTable", before(self))
        return _create_in_catalog(self, parts)

    return execute


def _delete(before: Wrapped) -> Any:
    @wraps(before)
    def delete(self: Any, condition: Any = None) -> DataFrame:
        jvm: Any = jvm_view(self._spark)
        rows = None if condition is None else self._condition_to_jcolumn(condition)
        return frame_from_java(jvm.lakeward.TableChanges.delete(java_delta_table(self), rows), self._spark)

    return delete


def _update(before: Wrapped) -> Any:
    @wraps(before)
    def update(self: Any, condition: Any = None, set: Any = None) -> DataFrame:
        jvm: Any = jvm_view(self._spark)
        values = self._dict_to_jmap(self._spark, set, "'set'")
        rows = None if condition is None else self._condition_to_jcolumn(condition)
        return frame_from_java(
            jvm.lakeward.TableChanges.update(java_delta_table(self), rows, values), self._spark
        )

    return update


def _detail(before: Wrapped) -> Any:
    def detail(self: Any) -> DataFrame:
        return show_users_name(self._spark, before(self))

    return detail


def _convert_to_delta(before: classmethod[Any, ..., Any]) -> Any:
    call = before.__func__

    def convert(
        cls: Any, sparkSession: SparkSession, identifier: str, partitionSchema: str | StructType | None = None
    ) -> Any:
        table = split_identifier(sparkSession, identifier)
        if names_path(table):
            return call(cls, sparkSession, identifier, partitionSchema)
        columns = partitionSchema
        if columns is not None and not isinstance(columns, str):
            columns = ", ".join(
                f"{quote_identifier(each.name)} {each.dataType.simpleString()}" for each in columns
            )
        clause = f" PARTITIONED BY ({columns})" if columns else ""
        sparkSession.sql(f"CONVERT TO DELTA {quote_name(table)}{clause}")
        return cls.forName(sparkSession, identifier)

    return classmethod(convert)


def _clone(before: Wrapped) -> Any:
    parameters = signature(before)

    @wraps(before)
    def clone(*args: Any, **options: Any) -> DeltaTable:
        given = parameters.bind(*args, **options)
        given.apply_defaults()
        return _clone_by_sql(**given.arguments)

    return clone


def _clone_by_sql(
    self: Any,
    target: str,
    isShallow: bool,  # as Delta's method
    replace: bool,  # as above
    properties: Mapping[str, str] | None,
    **moment: int | str,
) -> DeltaTable:
    """Clone a table by SQL, which has deep clones and names of any catalog.

    Args:
        self: The table.
        target: A name, or an absolute path.
        isShallow: Whether the clone refers to the files of the source.
        replace: Whether an existing table is replaced.
        properties: Table properties that replace those of the source.
        moment: The `version` or `timestamp` of the source; the latest version without it.

    Returns:
        The clone.
    """
    from delta.tables import DeltaTable

    DeltaTable._verify_clone_types(target, isShallow, replace, properties)  # type: ignore[arg-type]  # takes None
    spark = self._spark
    row = self.detail().first()
    origin = vars(self).get(_GOVERNED) or quote_name(["delta", row["location"]])
    is_path = is_absolute(target)
    place = quote_name(["delta", target]) if is_path else _qualify(spark, target)
    values = {unit: at if isinstance(at, int) else quote_string(at) for unit, at in moment.items()}
    version = "".join(f" {unit.upper()} AS OF {value}" for unit, value in values.items())
    pairs = quote_properties(properties or {})
    spark.sql(
        f"CREATE {'OR REPLACE ' if replace else ''}TABLE {place} {'SHALLOW' if isShallow else 'DEEP'} CLONE "
        f"{origin}{version}" + (f" TBLPROPERTIES ({pairs})" if pairs else "")
    )
    return DeltaTable.forPath(spark, target) if is_path else DeltaTable.forName(spark, target)


_TABLE, _BUILDER = "delta.tables:DeltaTable", "delta.tables:DeltaTableBuilder"
_BUILDER_NAMES = "names of Delta's builder are those of SQL"
_CLONES = "names of clones are those of SQL, and there are deep clones"
_NUMBERS = "update and delete return the numbers of rows, as the statements do"
_CONVERSION = "names of tables to convert are those of SQL"
_POLICIES = "row filters and column masks hold for every read by name"
PATCHES = (
    PatchSpec(_TABLE, "forName", "session", "names without a catalog are the current catalog's", _for_name),
    PatchSpec(_TABLE, "toDF", "session", _POLICIES, _to_df),
    PatchSpec(_TABLE, "alias", "session", _POLICIES, _alias),
    PatchSpec(_TABLE, "delete", "session", _NUMBERS, _delete),
    PatchSpec(_TABLE, "update", "session", _NUMBERS, _update),
    PatchSpec(_TABLE, "detail", "session", "the table's name has its catalog and schema", _detail),
    PatchSpec(_TABLE, "convertToDelta", "session", _CONVERSION, _convert_to_delta),
    PatchSpec(_TABLE, "clone", "session", _CLONES, _clone),
    PatchSpec(_TABLE, "cloneAtVersion", "session", _CLONES, _clone),
    PatchSpec(_TABLE, "cloneAtTimestamp", "session", _CLONES, _clone),
    PatchSpec(_BUILDER, "tableName", "session", _BUILDER_NAMES, _table_name),
    PatchSpec(_BUILDER, "execute", "session", _BUILDER_NAMES, _execute),
)


def _create_in_catalog(builder: Any, parts: list[str]) -> DeltaTable:
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


def _qualify(spark: SparkSession, name: str) -> str:
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
