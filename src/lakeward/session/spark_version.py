"""`spark.version` is that of the runtime's Spark, whatever Spark runs here: code chooses its ways by it."""

from __future__ import annotations

from typing import Any

from lakeward.session import patches
from lakeward.session.profiles import known

__all__ = ["install", "switch"]

_WHY = "spark.version is that of the runtime's Spark"
_release = ""


def switch(profile: str) -> None:
    """Let sessions answer from now on as the runtime of this name does.

    Where it has no release of its own (serverless compute, a runtime known by rule alone), Spark's stays.
    """
    global _release  # noqa: PLW0603  # PySpark's classes are the process's, and so is this
    runtime = known(profile)
    _release = runtime.spark if runtime else ""
    if _release:
        install()


def install() -> None:
    """Change PySpark's property; what it answers is for `switch` to say."""
    from pyspark.sql import SparkSession

    before: Any = patches.original(SparkSession, "version")

    def version(spark: SparkSession) -> str:
        own: str = before.__get__(spark, type(spark))
        return _release or own

    patches.replace(SparkSession, "version", property(version), why=_WHY)
