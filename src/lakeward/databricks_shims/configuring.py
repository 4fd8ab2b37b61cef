"""Workspace parts of a session: platform settings, and the catalogs `samples` and `system`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims.defaults import defaults
from lakeward.databricks_shims.display import install_method
from lakeward.session import PROVIDED_CATALOGS, Settings, current_settings
from lakeward.spark_internals import java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = Path(__file__).with_name("tables")
"""Definitions of tables, `<catalog>/<schema>/<table>`: queries (.sql), and columns of empty ones (.ddl)."""


def provided_tables() -> list[str]:
    """Return the full names of the tables that are created on first use."""
    files = TABLES.glob("*/*/*")
    return sorted(f"{file.parts[-3]}.{file.parts[-2]}.{file.stem}" for file in files)


def configure(spark: SparkSession) -> None:
    """Set the platform's settings and catalogs in a session and those made of it; the user's settings win.

    Tables of those catalogs are created when their name is first resolved. DataFrames get their `display`.
    """
    install_method()
    settings = current_settings() or Settings.here()
    jvm: Any = jvm_view(spark)
    jvm.lakeward.BuiltinTables.use(str(TABLES))
    given = {
        **defaults(settings.profile, settings.user),
        **{f"spark.sql.catalog.{name}": "lakeward.Catalog" for name in PROVIDED_CATALOGS},
    }
    lines = "\n".join(f"{key}\t{value}" for key, value in given.items())
    jvm.lakeward.BuiltinTables.settings(java_session(spark), lines)
