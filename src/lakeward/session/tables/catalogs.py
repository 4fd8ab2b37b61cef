"""Catalogs and schemas of the running session, and tables that exist within a block: private, schema-only.

Private tables are stored under names that listings omit, and read by their owner under their public name.
Schema-only tables are names with a schema and no rows, without files: a pipeline's analysis evaluates every
dataset function against them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.session.configuration.session_conf import CATALOG_CLASS
from lakeward.session.configuration.temporary_conf import temporary_conf
from lakeward.session.declared_catalogs import PROVIDED_CATALOGS
from lakeward.spark_internals import catalog_manager, java_array, java_session, jvm_view, scala_context

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def in_catalog(spark: SparkSession, name: Sequence[str]) -> tuple[Any, Any] | None:
    """Return the catalog of a name of up to three parts, and its Identifier; None without such a catalog."""
    jvm: Any = jvm_view(spark)
    manager = catalog_manager(spark)
    if len(name) == 3 and not manager.isCatalogRegistered(name[0]):
        return None
    catalog = manager.catalog(name[0]) if len(name) == 3 else manager.currentCatalog()
    schema = list(name[-2:-1]) or list(manager.currentNamespace())
    return catalog, jvm.org.apache.spark.sql.connector.catalog.Identifier.of(
        java_array(spark, *schema), name[-1]
    )


def _make(spark: SparkSession, catalog: str, schema: str) -> None:
    # Through the catalog API: the first SQL statement of a session takes a second.
    jvm: Any = jvm_view(spark)
    namespace = java_array(spark, schema)
    plugin = catalog_manager(spark).catalog(catalog)
    if not plugin.namespaceExists(namespace):
        plugin.createNamespace(namespace, jvm.java.util.HashMap())


def ensure_catalog(spark: SparkSession, name: str) -> None:
    """Create the catalog `name` with its schema `default`, in this session and later ones.

    A catalog of provided tables gets no schema.
    """
    key = f"spark.sql.catalog.{name}"
    if spark.conf.get(key, None) is None:
        scala_context(spark.sparkContext).conf().set(key, CATALOG_CLASS)
        spark.conf.set(key, CATALOG_CLASS)
    if name not in PROVIDED_CATALOGS:
        _make(spark, name, "default")


def ensure_schema(spark: SparkSession, catalog: str, schema: str) -> None:
    """Create `catalog.schema`, and the catalog if it is missing."""
    ensure_catalog(spark, catalog)
    if schema != "default":
        _make(spark, catalog, schema)


def enter_schema(spark: SparkSession, schema: str) -> None:
    """Make `schema` of the current catalog the current one if it exists; it is not created."""
    manager = catalog_manager(spark)
    namespace = java_array(spark, schema)
    if manager.currentCatalog().namespaceExists(namespace):
        manager.setCurrentNamespace(namespace)


def create_and_enter_schema(spark: SparkSession, catalog: str, schema: str) -> None:
    """Make `catalog.schema` the current schema; create both where they are missing."""
    ensure_schema(spark, catalog, schema)
    manager = catalog_manager(spark)
    manager.setCurrentCatalog(catalog)
    manager.setCurrentNamespace(java_array(spark, schema))


def users_schema(spark: SparkSession, database: str) -> str:
    """Return `catalog.schema` for the name of a database in Spark's session catalog, which joins the two."""
    names = jvm_view(spark).lakeward.IdentifierCodec
    return f"{names.catalog(database)}.{names.schema(database)}"


def show_users_name(spark: SparkSession, detail: DataFrame) -> DataFrame:
    """Return the result of DESCRIBE DETAIL with the user's name of the table instead of the stored one."""
    from pyspark.sql import functions as F

    row = detail.first()
    name = "" if row is None else row["name"] or ""
    if not name.startswith("spark_catalog."):
        return detail
    _, database, table = name.split(".", 2)
    return detail.withColumn("name", F.lit(f"{users_schema(spark, database)}.{table}"))


def admit_spark_catalog(spark: SparkSession) -> None:
    """Make `spark_catalog` an alias of the first catalog if the session's settings require it."""
    jvm: Any = jvm_view(spark)
    jvm.lakeward.SparkCatalog.admit(java_session(spark))


# Both as in jvm/PrivateTables.java, which resolves the names.
_SETTING = "spark.lakeward.private."
_PREFIX = "__private_"


def is_private_table(table: str) -> bool:
    """Return whether the name is the stored name of a private table."""
    return table.startswith(_PREFIX)


@contextmanager
def private_tables(spark: SparkSession, owner: str, names: Iterable[tuple[str, ...]]) -> Iterator[None]:
    """Resolve `names` (catalog, schema, table) to `owner`'s private tables within the block.

    Other code does not see them and can use the names for its own tables.
    """
    mark = hashlib.sha256(owner.encode()).hexdigest()[:12]
    settings = {_SETTING + ".".join(name).lower(): f"{_PREFIX}{mark}_{name[-1].lower()}" for name in names}
    with temporary_conf(spark, settings):
        yield


def stored_name(spark: SparkSession, name: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stored name (catalog, schema, table) of the table that `name` means in the session."""
    return (*name[:-1], spark.conf.get(_SETTING + ".".join(name).lower(), name[-1]) or name[-1])


class SchemaOnlyTables:
    """The schema-only tables of one block."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = jvm_view(spark)
        self._spark, self._tables = spark, jvm.lakeward.PlannedTable
        self._names: set[str] = set()
        self._schemas: set[str] = set()

    def add_schema(self, name: str) -> None:
        """Make the schema `name` (catalog.schema) exist for USE and name resolution.

        Its catalog is created: Spark reads the first part of a name as a schema where no such catalog is
        registered.
        """
        if name not in self._schemas:
            ensure_catalog(self._spark, name.partition(".")[0])
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
        """Remove all schema-only tables and their schemas."""
        for name in list(self._names):
            self.remove(name)
        for name in self._schemas:
            self._tables.removeSchema(name)
        self._schemas.clear()


@contextmanager
def schema_only_tables(spark: SparkSession) -> Iterator[SchemaOnlyTables]:
    """Allow schema-only tables within the block; real tables are resolved again afterwards."""
    planning = SchemaOnlyTables(spark)
    try:
        yield planning
    finally:
        planning.clear()
