"""Catalogs and schemas of the running session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeward.session.configuration.session_conf import CATALOG_CLASS
from lakeward.spark_internals import catalog_manager, java_array, java_session, jvm_view, scala_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    """Create the catalog `name` with its schema `default`, in this session and later ones."""
    key = f"spark.sql.catalog.{name}"
    if spark.conf.get(key, None) is None:
        scala_context(spark.sparkContext).conf().set(key, CATALOG_CLASS)
        spark.conf.set(key, CATALOG_CLASS)
    _make(spark, name, "default")


def ensure_schema(spark: SparkSession, catalog: str, schema: str) -> None:
    """Create `catalog.schema`, and the catalog if it is missing."""
    ensure_catalog(spark, catalog)
    if schema != "default":
        _make(spark, catalog, schema)


def admit_spark_catalog(spark: SparkSession) -> None:
    """Make `spark_catalog` an alias of the first catalog if the session's settings require it."""
    jvm: Any = jvm_view(spark)
    jvm.lakeward.SparkCatalog.admit(java_session(spark))
