"""Installation and removal of the replacement modules, and the import finder that serves them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import MappingProxyType, ModuleType

from lakeward.databricks_shims import ipython, ipython_display, pandas_columns, workspace_url
from lakeward.databricks_shims.modules import PACKAGES, SERVED
from lakeward.newer_fstrings import read_newer, stop_reading_newer
from lakeward.patching import (
    PatchSpec,
    call_after_import,
    find_behind,
    insert_entry,
    remove_entry,
    replacing_spec,
)
from lakeward.session import on_databricks

_Fill = Callable[[ModuleType], None]
PATCHES = (
    PatchSpec("sys", "meta_path", "shims", "user code imports databricks.sdk.runtime and pyspark.dbutils"),
)


class _Finder(MetaPathFinder, Loader):
    """The first finder of `sys.meta_path`; modules of other packages take precedence for some names.

    `served`: modules that are always provided here. `when_absent`: modules provided if they are not
    installed. `after`: functions that patch an installed module after its import.
    """

    def __init__(
        self, served: Mapping[str, _Fill], when_absent: Mapping[str, _Fill], after: Mapping[str, _Fill]
    ) -> None:
        self._served, self._when_absent, self._after = served, dict(when_absent), after

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return our spec, or the real one with `after` applied by its loader; None for all other names."""
        if fullname in self._served:
            # A submodule of the real one, such as its type stubs, may be imported.
            return replacing_spec(fullname, self, find_behind(self, fullname, path, target))
        if fullname in self._when_absent or fullname in self._after:
            found = find_behind(self, fullname, path, target)
            if fullname in self._when_absent and (found is None or _is_shadowing_folder(found)):
                return replacing_spec(fullname, self, found)
            if found is not None and fullname in self._after:
                call_after_import(found, self._after[fullname])
            return found
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill one of our modules."""
        name = module.__name__
        (self._served.get(name) or self._when_absent[name])(module)

    def add(self, modules: Mapping[str, _Fill]) -> list[str]:
        """Serve further modules where they are not installed; return those that were not served before."""
        new = [name for name in modules if name not in self._when_absent]
        self._when_absent.update((name, modules[name]) for name in new)
        return new

    def withdraw(self, names: Iterable[str]) -> None:
        """Serve the modules no longer, and remove them from `sys.modules`."""
        gone = set(names)
        self.forget(gone)
        for name in gone:
            del self._when_absent[name]

    def forget(self, only: Container[str] | None = None) -> None:
        """Remove our modules from `sys.modules`; code that has imported one keeps it."""
        for name, module in sys.modules.copy().items():
            spec = getattr(module, "__spec__", None)
            if spec is not None and spec.loader is self and (only is None or name in only):
                del sys.modules[name]
                parent, _, own = name.rpartition(".")
                if vars(sys.modules.get(parent, module)).get(own) is module:
                    delattr(sys.modules[parent], own)


def _is_shadowing_folder(spec: ModuleSpec) -> bool:
    """Return whether `spec` is a folder without an `__init__.py`, such as `dlt/` with sources of pipelines.

    Installed namespace packages, such as `databricks`, are the real ones.
    """
    return spec.loader is None and spec.origin is None and spec.name not in PACKAGES


def _patch_sdk(module: ModuleType) -> None:
    from lakeward.databricks_shims import sdk

    sdk.patch_sdk(module)


def _restore_sdk(module: ModuleType) -> None:
    from lakeward.databricks_shims import sdk

    sdk.restore_sdk(module)


_PATCHED: Mapping[str, tuple[_Fill, _Fill]] = {
    "databricks.sdk": (_patch_sdk, _restore_sdk),
    **dict.fromkeys(
        workspace_url.PATCHED_MODULES, (workspace_url.patch_connections, workspace_url.restore_connections)
    ),
    **dict.fromkeys((spec.owner for spec in ipython.PATCHES), (ipython.patch_shell, ipython.restore_shell)),
    "pandas": (pandas_columns.widen, pandas_columns.narrow),
    "IPython.display": (ipython_display.patch_display, ipython_display.restore_display),
}
"""Installed modules, each with what patches and what restores it."""
_AFTER: Mapping[str, _Fill] = {name: patch for name, (patch, _) in _PATCHED.items()}
_lock = threading.RLock()
_finders: list[_Finder] = []


def install(*, also: Mapping[str, _Fill] = MappingProxyType({})) -> None:
    """Serve the shims to imports from now on. Imports nothing itself; idempotent."""
    if os.environ.get("LAKEWARD_DISABLE") == "1" or on_databricks():
        return
    with _lock:
        if _finders:
            return
        empty: Mapping[str, _Fill] = dict.fromkeys(PACKAGES, lambda _: None)
        finder = _Finder(SERVED, {**empty, **also}, _AFTER)
        insert_entry(sys, finder, PATCHES[0].patch)
        _finders.append(finder)
        read_newer()
        for name, change in _AFTER.items():
            if name in sys.modules:
                change(sys.modules[name])


@contextmanager
def serve_modules(modules: Mapping[str, _Fill]) -> Iterator[None]:
    """Serve further modules within the block where they are not installed."""
    finder = _finders[0] if _finders else None
    added = finder.add(modules) if finder is not None else ()
    try:
        yield
    finally:
        if finder is not None:
            finder.withdraw(added)


def uninstall() -> None:
    """Remove the shims and restore patched modules; no effect if they are not installed."""
    with _lock:
        while _finders:
            finder = _finders.pop()
            remove_entry(finder)
            finder.forget()
            stop_reading_newer()
            for name, (_, restore) in _PATCHED.items():
                if name in sys.modules:
                    restore(sys.modules[name])


def is_installed() -> bool:
    """Return whether the shims are installed."""
    return bool(_finders)
