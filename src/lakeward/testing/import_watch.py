"""Acting when a module is imported for the first time, without importing it."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType


class OnImport(importlib.abc.MetaPathFinder):
    """Calls `then()` once the module `name` has been executed; at once when it already was.

    It finds nothing itself: the other finders do, and the loader that they give is wrapped.
    """

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.name, self.then = name, then

    def install(self) -> None:
        """Begin to watch."""
        if self.name in sys.modules:
            self.then()
        else:
            sys.meta_path.insert(0, self)

    def uninstall(self) -> None:
        """Stop watching."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the other finders' spec of the watched module, with a loader that reports the import."""
        if fullname != self.name:
            return None
        self.uninstall()
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = Telling(spec.loader, self.then)
                return spec  # type: ignore[no-any-return]  # a finder gives a spec or None
        return None


class Telling(importlib.abc.Loader):
    """Calls `then` after another loader has loaded a module."""

    def __init__(self, loader: importlib.abc.Loader, then: Callable[[], None]) -> None:
        self.loader, self.then = loader, then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Callers that use the module's loader (importlib.resources, inspect) get the real one.
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.then()
