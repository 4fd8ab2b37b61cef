"""The session as an update needs it: the pipeline's catalog and schema, its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.errors import ConfigurationError
from lakeward.pipelines.evaluate import settings
from lakeward.pipelines.names import Home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["configured", "entered"]


@contextmanager
def entered(spark: SparkSession, home: Home) -> Iterator[None]:
    """A block whose current catalog and schema are the pipeline's."""
    from lakeward.session import ensure_catalog

    manager = spark._jsparkSession.sessionState().catalogManager()
    catalog, namespace = manager.currentCatalog().name(), list(manager.currentNamespace())
    ensure_catalog(spark, home.catalog)
    _go_to(spark, home.catalog, [home.schema])
    try:
        yield
    finally:
        _go_to(spark, catalog, namespace)


def _go_to(spark: SparkSession, catalog: str, namespace: list[str]) -> None:
    manager = spark._jsparkSession.sessionState().catalogManager()
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    parts = gateway.new_array(jvm.java.lang.String, len(namespace))
    for i, part in enumerate(namespace):
        parts[i] = part
    manager.setCurrentCatalog(catalog)
    manager.setCurrentNamespace(parts)


@contextmanager
def configured(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    from pyspark.errors import PySparkException

    with ExitStack() as stack:
        try:
            stack.enter_context(settings(spark, conf))
        except PySparkException as error:
            raise ConfigurationError(
                error.getCondition() or "INVALID_CONFIGURATION",
                f"The pipeline's configuration cannot be applied: {error}",
                next_step="Settings of the Spark application itself belong into the session's configuration.",
            ) from None
        yield
