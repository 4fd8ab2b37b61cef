"""Finders of `sys.meta_path`: modules that are replaced, and functions to call after an import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_ORIGIN = "lakeward"


def replacing_spec(name: str, loader: Loader, replaced: ModuleSpec | None) -> ModuleSpec:
    """Return the spec of the module `name` that `loader` fills.

    Submodules of the module or folder `replaced` can still be imported.
    """
    spec = ModuleSpec(name, loader, origin=_ORIGIN, is_package=True)
    spec.submodule_search_locations = list((replaced and replaced.submodule_search_locations) or [])
    return spec


def is_replacing(spec: object) -> bool:
    """Return whether `replacing_spec` made `spec`."""
    return isinstance(spec, ModuleSpec) and spec.origin == _ORIGIN


def find_behind(
    finder: MetaPathFinder, fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    """Return the spec of a module that the finders behind `finder` in `sys.meta_path` have.

    Those before it have found nothing, or are calling this one.
    """
    finders: list[Any] = list(sys.meta_path)
    place = next((number for number, each in enumerate(finders) if each is finder), -1)
    for each in finders[place + 1 :]:
        find = getattr(each, "find_spec", None)
        spec: ModuleSpec | None = find(fullname, path, target) if find else None
        if spec is not None:
            return spec
    return None


def call_after_import(spec: ModuleSpec, then: Callable[[ModuleType], object]) -> None:
    """Let the import of `spec` call `then` with the module, once it has been executed."""
    if spec.loader is not None and hasattr(spec.loader, "exec_module"):
        spec.loader = _CallingLoader(spec.loader, then)


class _CallingLoader(Loader):
    """Wraps a loader, which may load other modules, too. The module itself gets the wrapped one."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], object]) -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # get_source, get_resource_reader and others of a spec's loader


class AfterImport(MetaPathFinder):
    """Calls `then` with each module of `names` right after its import. It finds nothing itself."""

    def __init__(self, names: Iterable[str], then: Callable[[ModuleType], object]) -> None:
        self._names = frozenset(names)
        self._then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the finders behind this one, for the modules to watch."""
        if fullname not in self._names:
            return None
        spec = find_behind(self, fullname, path, target)
        if spec is not None:
            call_after_import(spec, self._then)
        return spec

    def imported_modules(self) -> Iterable[ModuleType]:
        """Return those of the modules that are imported already."""
        return [sys.modules[name] for name in sorted(self._names) if name in sys.modules]
