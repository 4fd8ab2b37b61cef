"""Python workers import from the folders of the user's code, as the code itself does.

Functions of the user's modules are pickled by value, but an import inside of a function runs in a worker. On
Databricks workers import from the folder of the notebook and the root of its repository. Spark's workers have
the entries of `sc.addPyFile` only, and the folder in which the JVM was started.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from lakeward.patching import PatchSpec, Wrapped
from lakeward.user_code import is_user_file


def user_folders(entries: Sequence[str] | None = None) -> list[str]:
    """Return the folders of `entries` that hold the user's code, in their order.

    Args:
        entries: Entries like those of `sys.path`, which is the default. An empty one is the working folder.
    """
    folders = (str(Path(entry).absolute()) for entry in (sys.path if entries is None else entries))
    return [folder for folder in dict.fromkeys(folders) if is_user_file(folder) and Path(folder).is_dir()]


def _prepare(before: Wrapped) -> Any:
    @wraps(before)
    def prepare(sc: Any, command: Any) -> Any:
        pickled, broadcasts, environment, includes = before(sc, command)
        # Workers put each of them before the others (`pyspark.worker_util.add_path`). A path that is absolute
        # is not looked for among the files of `addPyFile`.
        return pickled, broadcasts, environment, [*includes, *reversed(user_folders())]

    return prepare


PATCHES = (
    PatchSpec(
        "pyspark.core.rdd",
        "_prepare_for_python_RDD",
        "session",
        "imports inside of functions find the user's modules in Python workers",
        _prepare,
    ),
)
