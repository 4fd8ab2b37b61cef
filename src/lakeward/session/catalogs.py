"""Catalogs and schemas of the running session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeward.session.conf import CATALOG_CLASS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["admit_spark_catalog", "ensure_catalog", "ensure_schema", "in_catalog", "java_array"]


def java_array(spark: SparkSession, *values: str) -> Any:
    """`values` as a Java String[]."""
    gateway: Any = spark._sc._gateway
    array = gateway.new_array(gateway.jvm.java.lang.String, len(values))
    for i, value in enumerate(values):
        array[i] = value
    return array


def in_catalog(spark: SparkSession, name: Sequence[str]) -> tuple[Any, Any] | None:
    """The catalog of a name of up to three parts, and the Identifier in it; None without such a catalog."""
    jvm: Any = spark._jvm
    manager = spark._jsparkSession.sessionState().catalogManager()
    if len(name) == 3 and not manager.isCatalogRegistered(name[0]):
        return None
    catalog = manager.catalog(name[0]) if len(name) == 3 else manager.currentCatalog()
    schema = list(name[-2:-1]) or list(manager.currentNamespace())
    return catalog, jvm.org.apache.spark.sql.connector.catalog.Identifier.of(
        java_array(spark, *schema), name[-1]
    )


def _make(spark: SparkSession, catalog: str, schema: str) -> None:
    # Through the catalog itself, not through SQL: the first statement of a session costs a second.
    jvm: Any = spark._jvm
    namespace = java_array(spark, schema)
    plugin = spark._jsparkSession.sessionState().catalogManager().catalog(catalog)
    if not plugin.namespaceExists(namespace):
        plugin.createNamespace(namespace, jvm.java.util.HashMap())


def ensure_catalog(spark: SparkSession, name: str) -> None:
    """Make the catalog `name` exist, with its schema `default`, in this session and those to come."""
    key = f"spark.sql.catalog.{name}"
    if spark.conf.get(key, None) is None:
        spark.sparkContext._jsc.sc().conf().set(key, CATALOG_CLASS)
        spark.conf.set(key, CATALOG_CLASS)
    _make(spark, name, "default")


def ensure_schema(spark: SparkSession, catalog: str, schema: str) -> None:
    """Make `catalog.schema` exist, and the catalog before it."""
    ensure_catalog(spark, catalog)
    if schema != "default":
        _make(spark, catalog, schema)


def admit_spark_catalog(spark: SparkSession) -> None:
    """Let `spark_catalog` be another name of the first catalog, where the session's settings say so."""
    jvm: Any = spark._jvm
    jvm.lakeward.SparkCatalog.admit(spark._jsparkSession)
