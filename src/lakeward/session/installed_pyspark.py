"""Let Spark's Python workers import the installed PySpark instead of the archive with the same code.

Spark puts `pyspark.zip` and py4j's archive first on a worker's path. Archives hold sources only, so every
worker compiles PySpark again, which costs a second of CPU each.
"""

from __future__ import annotations

import re
from collections.abc import MutableSequence
from pathlib import Path

_PY4J = re.compile(r"(py4j-.+)-src\.zip")


def prefer_installed(path: MutableSequence[str]) -> None:
    """Remove the archives of an installed PySpark from a path that also has the installation."""
    path[:] = [entry for entry in path if not _is_elsewhere(Path(entry), path)]


def _is_elsewhere(archive: Path, path: MutableSequence[str]) -> bool:
    package = archive.parent.parent.parent
    if archive.suffix != ".zip" or archive.parent != package / "python" / "lib":
        return False
    if package.name != "pyspark" or str(package.parent) not in path:
        return False
    if archive.name == "pyspark.zip":
        return (package / "__init__.py").is_file()
    of_py4j = _PY4J.fullmatch(archive.name)
    return of_py4j is not None and any(
        (Path(entry) / "py4j").is_dir() and (Path(entry) / f"{of_py4j[1]}.dist-info").is_dir()
        for entry in path
    )
