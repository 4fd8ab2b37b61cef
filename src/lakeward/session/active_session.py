"""The active session of this process."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward import patching
from lakeward.errors import SessionError
from lakeward.private_folders import private_folder
from lakeward.session.jvm.shared_jvm import is_borrowed
from lakeward.session.mount_table import BIND_MOUNTS_VARIABLE
from lakeward.session.patches.connect_finder import connect_is_installed
from lakeward.session.path_rules import call_on_change
from lakeward.session.paths import PathMap
from lakeward.session.settings import Settings
from lakeward.spark_internals import (
    catalog_manager,
    java_array,
    jvm_view,
    reset_error_locations,
    running_session,
    set_active_session,
)
from lakeward.volume_folders import rename_to_lower_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Extensions of every session as "module:function", called with the session. Names, not imports:
# dependencies point the other way.
EXTENSIONS = (
    "lakeward.sql:install",
    "lakeward.autoloader:install",
    "lakeward.copy_into:install",
    "lakeward.pipelines:install",
    "lakeward.streaming:install",
    "lakeward.dbutils:install",
    "lakeward.databricks_shims:configure",
    "lakeward.seeds:install",
)

# A name for the same reason: the patch creates sessions with this module.
_BUILDER_PATCH = "lakeward.session.entry_points.session_builder_patch:install_builder_hook"

_settings: Settings | None = None
_default: Callable[[], Settings] = Settings.here


def on_databricks(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the platform's own implementation is present: Databricks, or Databricks Connect."""
    if connect_is_installed():
        return True
    return "DATABRICKS_RUNTIME_VERSION" in environ and Path("/databricks/spark").is_dir()


def current_settings() -> Settings | None:
    """Return the settings of this process's session, None before it exists."""
    return _settings


def default_settings() -> Settings:
    """Return the settings of a session without explicit settings: by default those of this folder."""
    return _default()


def set_default_settings(make: Callable[[], Settings] | None) -> None:
    """Let `make` return the settings of sessions without explicit ones, such as those of a bundle."""
    global _default  # noqa: PLW0603  # the process's, as the session is
    _default = make or Settings.here


def install_extensions(spark: SparkSession) -> SparkSession:
    """Register the extensions of the other packages in a session and return it."""
    for extension in EXTENSIONS:
        _import(extension)(spark)
    return spark


def _import(name: str) -> Callable[..., Any]:
    module, function = name.split(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def is_running() -> bool:
    """Return whether this process has a Spark session whose context is not stopped."""
    return running_session() is not None


def session(settings: Settings | None = None, user_conf: Mapping[str, str] | None = None) -> SparkSession:
    """Return the Spark session with all extensions; create it on first use.

    If `settings` belong to another lakehouse than the running session's, a new session on that lakehouse in
    the same JVM is returned. On Databricks it is the platform's own session. Raises SetupError or
    SessionError.
    """
    from pyspark.sql import SparkSession

    from lakeward.session import spark_context as launching

    if on_databricks():
        return SparkSession.builder.getOrCreate()
    running = running_session()
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
    return register_session(spark, wanted)


def resume_session(spark: SparkSession, settings: Settings) -> None:
    """Make an earlier session of the running context this process's session again.

    `settings` are those that it was made with. Its current catalog and schema stay. If its context was
    stopped, a new session is made.
    """
    from lakeward.session import spark_context as launching

    running = running_session()
    if running is None or running.sparkContext is not spark.sparkContext:
        session(settings)
        return
    manager = catalog_manager(spark)
    catalog, schema = manager.currentCatalog().name(), manager.currentNamespace()
    launching.point_context(spark, settings)
    register_session(spark, settings)
    with suppress(Exception):  # They may have been dropped meanwhile.
        manager.setCurrentCatalog(catalog)
        manager.setCurrentNamespace(schema)


def map_paths(settings: Settings) -> None:
    """Map `/Volumes`, `/dbfs` … to the lakehouse in Python's file functions; needs no session.

    No effect on Databricks.
    """
    if on_databricks():
        return
    from lakeward.session import path_redirection

    if settings.bind_mounts:
        os.environ[BIND_MOUNTS_VARIABLE] = "1"
    with suppress(OSError):  # A state folder that cannot be written is reported by what writes to it.
        rename_to_lower_case(settings.volumes)
    path_redirection.install(PathMap.of(settings))


@contextmanager
def mapped_paths(settings: Settings) -> Iterator[None]:
    """Map platform paths as `map_paths` does within the block; restore the earlier mapping afterwards.

    The root folders are created, so that a program can create folders in them.
    """
    from lakeward.session import path_redirection

    before = path_redirection.installed_map()
    if not on_databricks():
        # A test suite that uses none of these paths must work with a read-only state folder.
        with suppress(OSError):
            private_folder(settings.state)
            for folder in (settings.volumes, settings.dbfs, settings.workspace):
                folder.mkdir(exist_ok=True)
    map_paths(settings)
    try:
        yield
    finally:
        if before is None:
            path_redirection.uninstall()
        else:
            path_redirection.install(before)


def apply_path_rule() -> None:
    """Apply the current rule for paths without a scheme to the running session, if there is one.

    A borrowed JVM keeps the rule of the process that lends it: other processes work in it at the same time.
    """
    running = running_session()
    if running is None or _settings is None or is_borrowed():
        return
    from lakeward.session import spark_context as launching

    launching.point_jvm(jvm_view(running), _settings)
    launching.apply_path_rule(running)


def register_session(spark: SparkSession, settings: Settings) -> SparkSession:
    """Make `spark` this process's session, install all extensions, and return it."""
    global _settings  # noqa: PLW0603  # one session a process, as in Spark itself
    from lakeward.session import spark_context as launching
    from lakeward.session.patches import (
        call_site_patch,
        catalog_patch,
        delta_table_patch,
        errors_patch,
        java_names_patch,
        pyspark_patches,
        serverless_enforcement,
        spark_version,
        thread_sessions,
        udf_patch,
        worker_imports,
    )

    map_paths(settings)
    for module in (
        java_names_patch,
        call_site_patch,
        delta_table_patch,
        catalog_patch,
        pyspark_patches,
        thread_sessions,
        udf_patch,
        worker_imports,
    ):
        patching.install(module.PATCHES)
    errors_patch.install_errors_patches(settings)
    _import(_BUILDER_PATCH)()
    _settings = settings
    # Before the first catalog access: Spark loads catalogs with the active session's settings.
    set_active_session(spark)
    if not is_borrowed():
        launching.apply_path_rule(spark)
    use_catalog_and_schema(spark, settings)
    install_extensions(spark)
    serverless_enforcement.set_enabled(settings.profile == "serverless")
    spark_version.use_profile(settings.profile)
    java_names_patch.use_profile(settings.profile)
    reset_error_locations()
    return spark


def use_catalog_and_schema(spark: SparkSession, settings: Settings) -> None:
    """Create the declared catalogs, and set the current catalog and schema to those of `settings`."""
    from lakeward.session.tables.catalogs import admit_spark_catalog, ensure_catalog, ensure_schema

    for name in settings.catalogs:
        ensure_catalog(spark, name)
    ensure_schema(spark, settings.catalog, settings.schema)
    manager = catalog_manager(spark)
    manager.setCurrentCatalog(settings.catalog)
    manager.setCurrentNamespace(java_array(spark, settings.schema))
    admit_spark_catalog(spark)


call_on_change(apply_path_rule)
