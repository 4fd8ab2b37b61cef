"""The one session of this process."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SessionError
from lakeward.session.connect_finder import connect_is_installed
from lakeward.session.paths import PathMap
from lakeward.session.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "adopt",
    "current_settings",
    "enter",
    "is_running",
    "map_paths",
    "on_databricks",
    "prepare",
    "session",
]

# What other rooms add to every session: "module:function", called with it. Named, not imported:
# dependencies point the other way.
EXTENSIONS = (
    "lakeward.sql:install",
    "lakeward.autoloader:install",
    "lakeward.copy_into:install",
    "lakeward.streaming:install",
    "lakeward.dbutils:install",
    "lakeward.standins:configure",
    "lakeward.seeds:install",
)

_settings: Settings | None = None
_default: Callable[[], Settings] = Settings.here


def on_databricks(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the platform's own implementation is there: on Databricks, or through Databricks Connect."""
    if connect_is_installed():
        return True
    return "DATABRICKS_RUNTIME_VERSION" in environ and Path("/databricks/spark").is_dir()


def current_settings() -> Settings | None:
    """The settings that this process's session was made with, None before."""
    return _settings


def default_settings() -> Settings:
    """The settings of a session that nobody gave settings for: this folder's, unless told otherwise."""
    return _default()


def set_default_settings(make: Callable[[], Settings] | None) -> None:
    """Let `make` give the settings where nobody does, such as those of the bundle in this folder."""
    global _default  # noqa: PLW0603  # the process's, as the session is
    _default = make or Settings.here


def prepare(spark: SparkSession) -> SparkSession:
    """Let the other rooms register what they serve in a session; returns it."""
    for extension in EXTENSIONS:
        module, function = extension.split(":")
        install: Callable[[SparkSession], None] = getattr(importlib.import_module(module), function)
        install(spark)
    return spark


def is_running() -> bool:
    """Whether this process has a Spark session whose context has not been stopped."""
    return _running() is not None


def _running() -> SparkSession | None:
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if spark is None or getattr(spark, "_sc", None) is None or spark._sc._jsc is None:
        return None
    return spark


def session(settings: Settings | None = None, user_conf: Mapping[str, str] | None = None) -> SparkSession:
    """The Spark session with everything registered; made on first use.

    With `settings` of another lakehouse than the running session's, a new session on that lakehouse is
    given, in the same JVM. On Databricks it is the platform's own session. Raises SetupError or
    SessionError.
    """
    from pyspark.sql import SparkSession

    from lakeward.session import launch as launching

    if on_databricks():
        return SparkSession.builder.getOrCreate()
    running = _running()
    wanted = settings or _settings or default_settings()
    if running is not None and _settings is None:
        if settings is None:
            return running
        raise SessionError(
            "FOREIGN_SPARK_SESSION",
            "A Spark session that lakeward has not made is running in this process.",
            next_step="Call stop() on it first, or make it after `lakeward.session()`.",
        )
    if running is not None and wanted == _settings and not user_conf:
        return running
    if running is None or _settings is None:
        spark = launching.launch(wanted, user_conf or {})
    else:
        spark = launching.point_at(running, wanted, _settings)
        for key, value in (user_conf or {}).items():
            spark.conf.set(key, value)
    return adopt(spark, wanted)


def map_paths(settings: Settings) -> None:
    """From now on Python finds `/Volumes`, `/dbfs` … in the lakehouse, before any session is there."""
    from lakeward.session import python_paths

    python_paths.install(PathMap.of(settings))


def adopt(spark: SparkSession, settings: Settings) -> SparkSession:
    """Make `spark` this process's session, with everything registered; returns it."""
    global _settings  # noqa: PLW0603  # one session a process, as in Spark itself
    from lakeward.session import delta_names, hooks, refusals, spark_version

    map_paths(settings)
    delta_names.install()
    hooks.install_builder_hook()
    _settings = settings
    jvm: Any = spark._jvm
    type(spark)._instantiatedSession = spark
    type(spark)._activeSession = spark
    # Before any look at a catalog: Spark loads catalogs with the active session's settings.
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
    jvm.org.apache.spark.sql.classic.SparkSession.setDefaultSession(spark._jsparkSession)
    enter(spark, settings)
    prepare(spark)
    refusals.switch(settings.profile)
    spark_version.switch(settings.profile)
    return spark


def enter(spark: SparkSession, settings: Settings) -> None:
    """Put `spark` into the catalog and schema of `settings`."""
    from lakeward.session.catalogs import admit_spark_catalog, ensure_schema, java_array

    ensure_schema(spark, settings.catalog, settings.schema)
    manager = spark._jsparkSession.sessionState().catalogManager()
    manager.setCurrentCatalog(settings.catalog)
    manager.setCurrentNamespace(java_array(spark, settings.schema))
    admit_spark_catalog(spark)
