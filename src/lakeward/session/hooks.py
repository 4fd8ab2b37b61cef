"""The places in PySpark where users' own sessions become lakeward's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lakeward.session import connect_finder, patches
from lakeward.session.current import map_paths, on_databricks, set_default_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session.settings import Settings

__all__ = [
    "enabled",
    "install_builder_hook",
    "install_connect_hook",
    "serve_on_demand",
    "uninstall_builder_hook",
]

_WHY = "SparkSession.builder gives lakeward's session"


def enabled() -> bool:
    """Whether lakeward may change anything: not with LAKEWARD_DISABLE=1, not where the platform's own is."""
    return os.environ.get("LAKEWARD_DISABLE") != "1" and not on_databricks()


def install_connect_hook() -> None:
    """From now on `databricks.connect` can be imported and gives lakeward's session. Imports no pyspark."""
    if enabled():
        connect_finder.install()


def install_builder_hook() -> None:
    """From now on every way to a session gives lakeward's; the user's settings are kept and win.

    These ways are `SparkSession.builder`, `SparkContext(…)`, `newSession()` and `DatabricksSession`.
    Nothing is installed with LAKEWARD_DISABLE=1, on Databricks, or under Databricks Connect; a builder
    with `.remote(…)` is left alone.
    """
    if not enabled():
        return
    install_connect_hook()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from lakeward.session.builders import init_context, new_session

    builder = SparkSession.Builder
    if vars(builder)["getOrCreate"] is _get_or_create:
        return
    patches.replace(builder, "getOrCreate", _get_or_create, why=_WHY)
    patches.replace(builder, "create", _create, why=_WHY)
    patches.replace(SparkSession, "newSession", new_session, why="a new session is lakeward's, too")
    patches.replace(SparkContext, "__init__", init_context, why="a context of one's own is lakeward's, too")


def serve_on_demand(settings: Settings) -> None:
    """From now on this process is on the lakehouse of `settings`; the first who asks starts the session."""
    set_default_settings(lambda: settings)
    install_builder_hook()
    map_paths(settings)


def uninstall_builder_hook() -> None:
    """PySpark's own builder again."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    for name in ("getOrCreate", "create"):
        patches.undo(SparkSession.Builder, name)
    patches.undo(SparkSession, "newSession")
    patches.undo(SparkContext, "__init__")
    connect_finder.uninstall()


def _get_or_create(self: Any) -> SparkSession:
    from pyspark.sql import SparkSession

    from lakeward.session import builders

    if builders.wants_connect(self._options):
        return patches.original(SparkSession.Builder, "getOrCreate")(self)  # type: ignore[no-any-return]
    return builders.get_or_create(self._options)


def _create(self: Any) -> SparkSession:
    from pyspark.sql import SparkSession

    from lakeward.session import builders

    if builders.wants_connect(self._options):
        return patches.original(SparkSession.Builder, "create")(self)  # type: ignore[no-any-return]
    return builders.create(self._options)
