"""Imports of the user's modules, which Python workers cannot import: what they define is pickled by value."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from lakeward.user_code import is_user_file


class PicklingFinder(MetaPathFinder):
    """Pickles functions and classes of modules below `folders` by value, from their import on.

    Without folders: those of every module of the user.
    """

    def __init__(self, folders: tuple[Path, ...] = ()) -> None:
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
