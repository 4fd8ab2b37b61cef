"""The meaning of a path without a scheme, per entry point.

On Databricks the root of Spark and of `dbutils.fs` is DBFS, and the root of Python's own functions is the
driver's disk (docs.databricks.com/files). Notebooks, jobs, pipelines and the commands and statements of a
workspace follow that rule: they run inside `dbfs_paths()`. Tests and scripts pass local paths such as
pytest's `tmp_path` to Spark, so their paths without a scheme are local. Documentation and tests are generated
from the table `PATH_RULES`.
"""

from __future__ import annotations

import getpass
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PathRule:
    """The place that a spelling leads to; None where it is not a path for that user.

    Args:
        spelling: An example, `{local}` for a folder that stays local, `{mount}` for a mounted prefix.
        platform: For Spark and `dbutils.fs` in notebooks, jobs and pipelines.
        script: For Spark and `dbutils.fs` in `lakeward test`, scripts and `lakeward sql`.
        python: For `open`, `os`, `pathlib`, pandas and pyarrow everywhere.
    """

    spelling: str
    platform: str
    script: str
    python: str | None


PATH_RULES = (
    PathRule("/tmp/x", "DBFS", "local disk", "local disk"),  # noqa: S108  # an example, never opened
    PathRule("dbfs:/tmp/x", "DBFS", "DBFS", None),
    PathRule("/dbfs/tmp/x", "DBFS", "DBFS", "DBFS"),
    PathRule("file:/tmp/x", "local disk", "local disk", None),
    PathRule("/mnt/x", "DBFS", "DBFS", "local disk"),
    PathRule("/FileStore/x", "DBFS", "DBFS", "local disk"),
    PathRule("/databricks-datasets/x", "DBFS", "DBFS", "local disk"),
    PathRule("/user/hive/warehouse/x", "hive_metastore", "hive_metastore", "local disk"),
    PathRule("dbfs:/user/hive/warehouse/x", "hive_metastore", "hive_metastore", None),
    PathRule("/dbfs/user/hive/warehouse/x", "hive_metastore", "hive_metastore", "hive_metastore"),
    PathRule("/Volumes/c/s/v/x", "volume", "volume", "volume"),
    PathRule("dbfs:/Volumes/c/s/v/x", "volume", "volume", None),
    PathRule("/Workspace/Users/ann/x", "workspace files", "workspace files", "workspace files"),
    PathRule("{local}/x", "local disk", "local disk", "local disk"),
    PathRule("file:{local}/x", "local disk", "local disk", None),
    PathRule("{mount}/x", "mounted folder", "mounted folder", "mounted folder"),
    PathRule("dbfs:{mount}/x", "mounted folder", "mounted folder", None),
    PathRule("/dbfs{mount}/x", "mounted folder", "mounted folder", "mounted folder"),
    PathRule("x", "working folder", "working folder", "working folder"),
)

_lock = threading.RLock()
_depth = 0
_on_change: list[Callable[[], None]] = []


def paths_are_dbfs() -> bool:
    """Return whether paths without a scheme are DBFS paths for Spark and `dbutils.fs` in this process."""
    return _depth > 0


@contextmanager
def dbfs_paths() -> Iterator[None]:
    """Read paths without a scheme as DBFS paths, as the platform does; restore the local rule at the end.

    Applies to the whole process and to its running session. Scopes may be nested and used by threads at the
    same time: the rule ends with the last of them.
    """
    _enter(1)
    try:
        yield
    finally:
        _enter(-1)


def _enter(change: int) -> None:
    global _depth  # noqa: PLW0603  # the process's, as the session is
    with _lock:
        before = paths_are_dbfs()
        _depth += change
        if before == paths_are_dbfs() or "pyspark" not in sys.modules:
            return
        for function in _on_change:
            function()


def call_on_change(function: Callable[[], None]) -> None:
    """Call `function` whenever the rule changes, so that the running session follows it."""
    _on_change.append(function)


def pytest_folders() -> tuple[str, ...]:
    """Return the folders of pytest's `tmp_path`, which are local in notebooks, jobs and pipelines too."""
    root = Path(os.environ.get("PYTEST_DEBUG_TEMPROOT") or tempfile.gettempdir())
    with suppress(KeyError, OSError):
        folder = f"pytest-of-{getpass.getuser()}"
        return tuple(dict.fromkeys(str(each / folder) for each in (root.absolute(), root.resolve())))
    return ()
