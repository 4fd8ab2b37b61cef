"""Relative paths of a process whose JVM was started in another folder."""

from __future__ import annotations

import re
from functools import wraps
from pathlib import Path
from typing import Any

from lakeward.patching import PatchSpec, install

_here = Path()


def stand_here(jvm: Any) -> None:
    """Make Spark resolve relative paths against the current working directory of this process."""
    global _here  # noqa: PLW0603  # one JVM a process, as PySpark has it
    _here = Path.cwd()
    # Spark's file systems call our Java class; these three methods resolve paths in Java before that.
    jvm.lakeward.LakehouseSettings.stand(str(_here))
    install(PATCHES)


def absolute_path(path: str, folder: Path) -> str:
    """Resolve `path` against `folder`; absolute paths and URIs are returned unchanged."""
    return path if not path or re.match(r"/|[A-Za-z][A-Za-z0-9+.-]*:", path) else str(folder / path)


def _adding(before: Any) -> Any:
    @wraps(before)
    def add(self: Any, path: Any, *arguments: Any, **named: Any) -> Any:
        return before(self, absolute_path(str(path), _here), *arguments, **named)

    return add


PATCHES = tuple(
    PatchSpec(
        "pyspark.core.context:SparkContext",
        name,
        "daemon",
        "relative paths start from the working folder of the process, not of its daemon",
        _adding,
    )
    for name in ("addFile", "addPyFile", "addArchive")
)
