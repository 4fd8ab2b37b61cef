"""The hook on the builder: users' own `SparkSession.builder…getOrCreate()` gives lakeward's session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lakeward.session import patches
from lakeward.session.current import on_databricks, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["install_builder_hook", "uninstall_builder_hook"]


def install_builder_hook() -> None:
    """From now on the builder gives lakeward's session; the user's settings are kept and win.

    Nothing is installed with LAKEWARD_DISABLE=1, on Databricks, or under Databricks Connect; a builder
    with `.remote(…)` is left alone.
    """
    if os.environ.get("LAKEWARD_DISABLE") == "1" or on_databricks():
        return
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder
    patches.replace(
        builder, "getOrCreate", _get_or_create, why="SparkSession.builder gives lakeward's session"
    )


def uninstall_builder_hook() -> None:
    """PySpark's own builder again."""
    from pyspark.sql import SparkSession

    patches.undo(SparkSession.Builder, "getOrCreate")


def _get_or_create(self: Any) -> SparkSession:
    from pyspark.sql import SparkSession

    options = {key: str(value) for key, value in self._options.items()}
    if "spark.remote" in options or "SPARK_REMOTE" in os.environ:
        return patches.original(SparkSession.Builder, "getOrCreate")(self)  # type: ignore[no-any-return]
    running = SparkSession.getActiveSession()
    if running is None:
        return session(user_conf=options)
    # As in Spark: a running session takes the builder's settings, static ones are left as they are.
    for key, value in options.items():
        if running._jsparkSession.sessionState().conf().isModifiable(key):
            running.conf.set(key, value)
    return running
