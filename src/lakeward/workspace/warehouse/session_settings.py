"""What a session of a client starts with: catalog, schema and configuration.

Parameters of Databricks SQL: https://docs.databricks.com/sql/language-manual/sql-ref-parameters
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeward.spark_internals import catalog_manager, java_array
from lakeward.sql import SQL_PARAMETERS, STATEMENT_TIMEOUT, set_timeout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Accepted without effect: of the platform's cache, engine and history, and of the layout of results, which
# the messages name themselves.
_IGNORED = (
    "enable_photon",
    "query_tags",
    "read_only_external_metastore",
    "use_cached_result",
)
_IGNORED_PREFIX = "spark.thriftserver."


def enter(spark: SparkSession, catalog: str | None, schema: str | None) -> None:
    """Make `catalog` and `schema` the current ones of the session."""
    manager = catalog_manager(spark)
    if catalog:
        manager.setCurrentCatalog(catalog.lower())
    if schema:
        manager.setCurrentNamespace(java_array(spark, schema.lower()))


def configure(spark: SparkSession, configuration: Mapping[str, str]) -> None:
    """Set the parameters of a session. Raises Spark's error for an invalid or static one."""
    for name, value in configuration.items():
        lowered = name.lower()
        if lowered == STATEMENT_TIMEOUT:
            set_timeout(spark, value)
        elif lowered not in _IGNORED and not lowered.startswith(_IGNORED_PREFIX):
            spark.conf.set(SQL_PARAMETERS.get(lowered, name), value)
