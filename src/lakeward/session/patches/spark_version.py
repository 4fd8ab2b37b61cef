"""Set `spark.version` and `pyspark.__version__` to the Spark release of the profile: code tests them."""

from __future__ import annotations

import sys
from typing import Any

from lakeward.patching import PatchSpec, install
from lakeward.session.runtimes.profiles import find_profile

_release = ""


def use_profile(profile: str) -> None:
    """Make sessions and the package report the Spark release of a runtime.

    Profiles without a release (serverless compute, a runtime that no table lists) keep Spark's own version.
    """
    global _release  # noqa: PLW0603  # PySpark's classes are shared by the process, and so is this
    runtime = find_profile(profile)
    _release = runtime.spark if runtime else ""
    if _release:
        install(PATCHES[:1])
    use_package_version(profile)


def use_package_version(profile: str) -> None:
    """Make `pyspark.__version__` report the release of a runtime with the installed major version.

    PySpark 3 has other classes than PySpark 4: libraries that find them by the version get the installed one.
    """
    runtime = find_profile(profile)
    release = runtime.spark if runtime else ""
    for spec in PATCHES[1:]:
        module = sys.modules.get(spec.owner)
        if module is None:
            continue
        spec.remove(owner=module)
        installed = str(getattr(module, spec.attribute, ""))
        if release.partition(".")[0] == installed.partition(".")[0]:
            spec.install(lambda before: release or before, owner=module)


def _version(before: property) -> Any:
    def version(spark: Any) -> str:
        own: str = before.__get__(spark, type(spark))
        return _release or own

    return property(version)


_PACKAGE_REASON = "pyspark.__version__ is that of the runtime's Spark, within one major version"
PATCHES = (
    PatchSpec(
        "pyspark.sql.session:SparkSession",
        "version",
        "session",
        "spark.version is that of the runtime's Spark",
        _version,
    ),
    # The package takes its attribute from this module, which is imported before.
    PatchSpec("pyspark.version", "__version__", "session", _PACKAGE_REASON),
    PatchSpec("pyspark", "__version__", "session", _PACKAGE_REASON),
)
