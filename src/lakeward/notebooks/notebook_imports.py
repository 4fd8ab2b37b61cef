"""Imports from the folders of a notebook."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from lakeward.user_code import is_user_file


@contextmanager
def notebook_imports(folder: Path, imports: Sequence[Path]) -> Iterator[None]:
    """Set the working directory to `folder` and make modules below `imports` importable in the body."""
    before, entries, modules = Path.cwd(), list(sys.path), set(sys.modules)
    finder = _ByValue(tuple(imports))
    os.chdir(folder)
    sys.path[:0] = [str(path) for path in imports]
    sys.meta_path.insert(0, finder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = entries
        sys.meta_path.remove(finder)
        finder.forget()
        for name in set(sys.modules) - modules:
            if is_user_file(getattr(sys.modules[name], "__file__", None), finder.folders):
                del sys.modules[name]


class _ByValue(MetaPathFinder):
    """Pickles functions of the user's modules by value, since Python workers cannot import them."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self.modules: list[ModuleType] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not is_user_file(spec.origin, self.folders):
            return None
        loader: Any = spec.loader
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            _cloudpickle().register_pickle_by_value(module)
            self.modules.append(module)
            plain(module)

        loader.exec_module = exec_module
        return spec

    def forget(self) -> None:
        for module in self.modules:
            if module.__name__ in _cloudpickle().list_registry_pickle_by_value():
                _cloudpickle().unregister_pickle_by_value(module)


def _cloudpickle() -> Any:
    from pyspark import cloudpickle

    return cloudpickle
