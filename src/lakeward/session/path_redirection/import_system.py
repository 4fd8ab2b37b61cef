"""Imports: modules below a mapped `sys.path` entry, and libraries that are patched after their import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from lakeward.session.path_redirection.translator import PathTranslator


def path_hook(translator: PathTranslator) -> Callable[[str], Any]:
    """A hook of `sys.path_hooks`: `sys.path.append("/Workspace/…")` finds modules in the mapped folder."""

    def hook(entry: str) -> Any:
        local = translator.find(entry)
        if local is None:
            raise ImportError("not a mapped path", path=entry)
        for other in sys.path_hooks:
            if other is not hook:
                try:
                    return other(local)
                except ImportError:
                    continue
        raise ImportError("no importer for this path", path=entry)

    return hook


class PatchAfterImport(MetaPathFinder):
    """Calls `then(module)` right after one of `names` is imported."""

    def __init__(self, names: Iterable[str], then: Callable[[ModuleType], None]) -> None:
        self._names = frozenset(names)
        self._then = then

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return the spec of the import system, with `then` called after the loader."""
        if fullname not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            plain(module)
            self._then(module)

        loader.exec_module = exec_module
        return spec

    def imported_modules(self) -> Iterable[ModuleType]:
        """Return those of the modules that are imported already."""
        return [sys.modules[name] for name in sorted(self._names) if name in sys.modules]
