"""The user's modules in Python workers, which serve the functions of several runs.

A worker keeps `sys.path` and `sys.modules` from task to task. The next task may come from another folder that
has a module of the same name, or the user may have edited the file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from time import time
from types import ModuleType
from typing import Any

from lakeward.user_code import is_user_file


class WorkerModules:
    """Removes folders and modules of earlier tasks from the interpreter.

    `begin_task` is called before Spark adds the folders of a task, `folders_added` after that.

    Args:
        last: A folder that is searched last, unless a task adds it: Spark adds no entry that is there.
    """

    def __init__(self, last: str | None = None) -> None:
        self._last = last
        self.entries = [entry for entry in sys.path if entry != last]
        self._kept = set(sys.modules)
        self._last_check = time()
        # When the check before the import of each module began, in seconds since 1970.
        self._checked: dict[str, float] = {}

    def begin_task(self) -> None:
        sys.path[:] = self.entries

    def folders_added(self) -> None:
        """Remove all modules of earlier tasks if a file was changed, or would be found elsewhere now."""
        if self._last is not None and self._last not in sys.path:
            sys.path.append(self._last)
        loaded = self._loaded()
        for name in loaded:
            self._checked.setdefault(name, self._last_check)
        self._last_check = time()
        folders = {top: _folders_of(top) for top in {name.partition(".")[0] for name in loaded}}
        if any(self._is_stale(name, file, folders) for name, file in loaded.items()):
            for name in loaded:
                del sys.modules[name]
            self._checked.clear()

    def _loaded(self) -> dict[str, Path]:
        """Return the files of the user's modules that tasks have imported, by name."""
        files = {
            name: Path(file)
            for name, module in sys.modules.copy().items()
            if name not in self._kept and (file := _file_of(module)) is not None and is_user_file(file)
        }
        # An extension module can be loaded only once.
        return {
            name: file for name, file in files.items() if not file.name.endswith(tuple(EXTENSION_SUFFIXES))
        }

    def _is_stale(self, name: str, file: Path, folders: Mapping[str, set[str]]) -> bool:
        depth = name.count(".") + (1 if file.stem == "__init__" else 0)
        if len(file.parents) <= depth or str(file.parents[depth]) not in folders[name.partition(".")[0]]:
            return True
        # The module may be in an archive.
        found = next(path for path in (file, *file.parents) if path.exists())
        return found.is_dir() or found.stat().st_mtime > self._checked[name]


def _folders_of(name: str) -> set[str]:
    """Return the entries of `sys.path` that a top-level module is imported from now."""
    spec = PathFinder.find_spec(name)
    if spec is None or spec.origin is None:
        # A package without `__init__` may have folders in several entries.
        places = () if spec is None else spec.submodule_search_locations or ()
        return {str(Path(place).parent) for place in places}
    origin = Path(spec.origin)
    return {str(origin.parents[1] if origin.stem == "__init__" else origin.parent)}


def _file_of(module: ModuleType) -> str | None:
    file: object = getattr(module, "__file__", None)
    return file if isinstance(file, str) else None


def follow_user_modules(start_folder: str | None) -> None:
    """Let each task of this process import the modules of its own run, as they are now.

    The folder in which the JVM was started, which serves runs of several folders, is searched last.
    """
    from pyspark import worker, worker_util

    before: Any = worker_util.setup_spark_files
    modules = WorkerModules(start_folder)

    def setup_spark_files(infile: Any) -> None:
        modules.begin_task()
        before(infile)
        modules.folders_added()

    # Both: kinds of workers that are imported later take it from the second.
    importers: tuple[Any, ...] = (worker, worker_util)
    for module in importers:
        module.setup_spark_files = setup_spark_files
