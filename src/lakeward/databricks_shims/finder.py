"""Import finder that serves replacement modules, and patches two real modules after their import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Fill = Callable[[ModuleType], None]


class Finder(MetaPathFinder, Loader):
    """The first finder of `sys.meta_path`; modules of other packages take precedence for some names.

    `served`: modules that are always provided here. `when_absent`: modules provided if they are not
    installed. `after`: functions that patch an installed module after its import.
    """

    def __init__(
        self, served: Mapping[str, Fill], when_absent: Mapping[str, Fill], after: Mapping[str, Fill]
    ) -> None:
        self._served, self._when_absent, self._after = served, when_absent, after

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return our spec, or the real one with `after` applied by its loader; None for all other names."""
        if fullname in self._served:
            spec = ModuleSpec(fullname, self, origin="lakeward", is_package=True)
            # Submodules of the real module, such as its type stubs, can still be imported.
            real = self._elsewhere(fullname, path, target)
            spec.submodule_search_locations = list((real and real.submodule_search_locations) or [])
            return spec
        if fullname in self._when_absent or fullname in self._after:
            found = self._elsewhere(fullname, path, target)
            if found is None and fullname in self._when_absent:
                return ModuleSpec(fullname, self, origin="lakeward", is_package=True)
            if found is not None and fullname in self._after:
                _follow(found, self._after[fullname])
            return found
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill one of our modules."""
        name = module.__name__
        (self._served.get(name) or self._when_absent[name])(module)

    def _elsewhere(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            find: Any = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(fullname, path, target) if find and finder is not self else None
            if spec is not None:
                return spec
        return None

    def forget(self) -> None:
        """Remove our modules from `sys.modules`; code that has imported one keeps it."""
        for name, module in list(sys.modules.items()):
            spec = getattr(module, "__spec__", None)
            if spec is not None and spec.loader is self:
                del sys.modules[name]
                parent, _, own = name.rpartition(".")
                if vars(sys.modules.get(parent, module)).get(own) is module:
                    delattr(sys.modules[parent], own)


def _follow(spec: ModuleSpec, then: Fill) -> None:
    loader: Any = spec.loader
    if loader is None or not hasattr(loader, "exec_module"):
        return
    plain = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        plain(module)
        then(module)

    loader.exec_module = exec_module
