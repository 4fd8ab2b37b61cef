"""`SparkContext.addArchive` of a file that does not exist has no effect on later jobs.

Spark registers the archive before it reads it, and each task of a later job then fails to fetch it.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec
from lakeward.spark_internals import require_file


def _add_archive(before: Any) -> Any:
    @wraps(before)
    def addArchive(self: Any, path: str) -> None:  # noqa: N802  # as PySpark names it
        require_file(self, path)
        before(self, path)

    return addArchive


PATCHES = (
    PatchSpec(
        "pyspark.core.context:SparkContext",
        "addArchive",
        "session",
        "an archive that does not exist does not break later jobs",
        _add_archive,
    ),
)
