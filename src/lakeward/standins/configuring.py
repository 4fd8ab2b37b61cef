"""What a session gets that is a workspace's, not Spark's: settings, and the catalogs `samples`, `system`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.session import Settings, current_settings
from lakeward.standins.defaults import defaults

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CATALOGS", "TABLES", "configure", "provided"]

TABLES = Path(__file__).with_name("tables")
"""Definitions of tables, `<catalog>/<schema>/<table>`: queries (.sql), and columns of empty ones (.ddl)."""

CATALOGS = ("samples", "system")


def provided() -> list[str]:
    """The full names of the tables that are made when somebody asks for them."""
    files = TABLES.glob("*/*/*")
    return sorted(f"{file.parts[-3]}.{file.parts[-2]}.{file.stem}" for file in files)


def configure(spark: SparkSession) -> None:
    """Give a session, and those made of it, the platform's settings and catalogs; the user's settings win.

    Tables of those catalogs are made when somebody asks for their name, not before.
    """
    settings = current_settings() or Settings.here()
    jvm: Any = spark._jvm
    jvm.lakeward.Provided.use(str(TABLES))
    given = {
        **defaults(settings.profile, settings.user),
        **{f"spark.sql.catalog.{name}": "lakeward.Catalog" for name in CATALOGS},
    }
    lines = "\n".join(f"{key}\t{value}" for key, value in given.items())
    jvm.lakeward.Provided.settings(spark._jsparkSession, lines)
