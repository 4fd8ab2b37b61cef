"""The catalog and schema that short names are completed with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.names import Home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["current_home", "entered"]


@contextmanager
def entered(spark: SparkSession, home: Home) -> Iterator[None]:
    """A block whose current catalog and schema are the pipeline's; the schema need not exist yet."""
    from lakeward.session import ensure_catalog, planned

    manager = spark._jsparkSession.sessionState().catalogManager()
    catalog, namespace = manager.currentCatalog().name(), list(manager.currentNamespace())
    ensure_catalog(spark, home.catalog)
    with planned(spark) as planning:
        planning.add_schema(f"{home.catalog}.{home.schema}")
        _go_to(spark, home.catalog, [home.schema])
        try:
            yield
        finally:
            _go_to(spark, catalog, namespace)


def current_home(spark: SparkSession) -> Home:
    """The catalog and schema in force."""
    manager = spark._jsparkSession.sessionState().catalogManager()
    return Home(manager.currentCatalog().name(), ".".join(manager.currentNamespace()))


def _go_to(spark: SparkSession, catalog: str, namespace: list[str]) -> None:
    manager = spark._jsparkSession.sessionState().catalogManager()
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    parts = gateway.new_array(jvm.java.lang.String, len(namespace))
    for i, part in enumerate(namespace):
        parts[i] = part
    manager.setCurrentCatalog(catalog)
    manager.setCurrentNamespace(parts)
