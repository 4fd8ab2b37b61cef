"""Environment of a run: modules, `dbutils`, the runtime's version, the platform's settings and catalogs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims.defaults import defaults, release
from lakeward.databricks_shims.display import install_method
from lakeward.databricks_shims.installing import install, is_installed, serve_modules, uninstall
from lakeward.databricks_shims.ipython import REPLACED
from lakeward.session import PROVIDED_CATALOGS, Settings, current_settings
from lakeward.spark_internals import java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.dbutils import Environment

VERSION = "DATABRICKS_RUNTIME_VERSION"
"""The platform sets this variable; nothing of ours ever looks at it to find out where it runs."""
TABLES = Path(__file__).with_name("tables")
"""Definitions of tables, `<catalog>/<schema>/<table>`: queries (.sql), and columns of empty ones (.ddl)."""


@contextmanager
def use_surroundings(given: Environment | None = None) -> Iterator[None]:
    """Yield a block in which code finds what it finds in a task on Databricks; afterwards all is as before.

    `given` is what `dbutils` works on, that which is in force already if left out.
    With LAKEWARD_DISABLE=1 or on Databricks nothing but `dbutils` of this package is affected.
    """
    from lakeward.dbutils import environment, use_environment

    given = given or environment()
    mine = not is_installed()
    install()
    before = os.environ.get(VERSION)
    if is_installed():
        os.environ[VERSION] = runtime_version(given.settings().profile)
    try:
        with use_environment(given), serve_modules(REPLACED):
            yield
    finally:
        if before is None:
            os.environ.pop(VERSION, None)
        else:
            os.environ[VERSION] = before
        if mine:
            uninstall()


def runtime_version(profile: str) -> str:
    """Return what the platform's variable holds under a runtime profile."""
    return "client.4.0" if profile == "serverless" else release(profile)


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
