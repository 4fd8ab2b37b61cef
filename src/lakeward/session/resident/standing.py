"""Relative paths of a process whose JVM was started in another folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from lakeward.session import patches
from lakeward.session.resident.identity import absolute_path

__all__ = ["stand_here"]

_WHY = "a resident JVM stands in another folder"


def stand_here(jvm: Any) -> None:
    """Have Spark's relative paths start from this process's folder, as it is now."""
    from pyspark import SparkContext

    here = Path.cwd()
    # Spark's own file systems ask our class; these three resolve a path in Java, before any of them.
    jvm.lakeward.Home.stand(str(here))
    for name in ("addFile", "addPyFile", "addArchive"):
        patches.replace(SparkContext, name, _from(here, patches.original(SparkContext, name)), why=_WHY)


def _from(here: Path, plain: Callable[..., Any]) -> Callable[..., Any]:

    @wraps(plain)
    def add(self: Any, path: Any, *arguments: Any, **named: Any) -> Any:
        return plain(self, absolute_path(str(path), here), *arguments, **named)

    return add
