"""Set `spark.version` to the Spark release of the runtime profile: code selects features by it."""

from __future__ import annotations

from typing import Any

from lakeward.patching import PatchSpec, install
from lakeward.session.runtimes.profiles import find_profile

_release = ""


def use_profile(profile: str) -> None:
    """Make sessions report the Spark release of a runtime.

    Profiles without a release (serverless compute, a runtime that no table lists) keep Spark's own version.
    """
    global _release  # noqa: PLW0603  # PySpark's classes are shared by the process, and so is this
    runtime = find_profile(profile)
    _release = runtime.spark if runtime else ""
    if _release:
        install(PATCHES)


def _version(before: Any) -> Any:
    def version(spark: Any) -> str:
        own: str = before.__get__(spark, type(spark))
        return _release or own

    return property(version)


PATCHES = (
    PatchSpec(
        "pyspark.sql.session:SparkSession",
        "version",
        "session",
        "spark.version is that of the runtime's Spark",
        _version,
    ),
)
