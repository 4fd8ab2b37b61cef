"""Modules beside a notebook: they can be imported while it runs, by Python workers too, and are forgotten."""

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

__all__ = ["inside"]

_OURS = str(Path(__file__).parents[1])


@contextmanager
def inside(folder: Path, imports: Sequence[Path]) -> Iterator[None]:
    """A block with `folder` as working directory in which modules below `imports` can be imported."""
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
            if _is_below(getattr(sys.modules[name], "__file__", None), finder.folders):
                del sys.modules[name]


class _ByValue(MetaPathFinder):
    """Lets functions of the user's modules travel to Python workers by value: those cannot import them."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self.modules: list[ModuleType] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not _is_below(spec.origin, self.folders):
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


def _is_below(file: object, folders: tuple[Path, ...]) -> bool:
    return (
        isinstance(file, str)
        and "site-packages" not in file
        and not file.startswith(_OURS)
        and any(folder in Path(file).parents for folder in folders)
    )


def _cloudpickle() -> Any:
    from pyspark import cloudpickle

    return cloudpickle
