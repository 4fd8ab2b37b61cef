"""`import databricks.connect` where Databricks Connect is not installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from lakeward.patching import PatchSpec, insert_entry, remove_entry

ORIGIN = "lakeward"
CONNECT_MODULES = ("databricks.connect", "databricks.connect.session")
"""The modules that are provided if Databricks Connect is not installed."""


def connect_is_installed() -> bool:
    """Return whether the real Databricks Connect can be imported; the shim does not count."""
    try:
        spec = importlib.util.find_spec("databricks.connect")
    except (ModuleNotFoundError, ValueError):  # no such namespace; a test's own stub, made without a spec
        return False
    return spec is not None and spec.origin != ORIGIN


class _Finder(MetaPathFinder, Loader):
    """The last finder on the path: installed packages and modules that a test puts into `sys.modules` win."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "databricks":
            # Reached only if no package of the namespace is installed.
            return ModuleSpec(fullname, self, origin=ORIGIN, is_package=True)
        if fullname in CONNECT_MODULES:
            return ModuleSpec(fullname, self, origin=ORIGIN, is_package=fullname == CONNECT_MODULES[0])
        return None

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "databricks":
            return
        module.__doc__ = "Databricks Connect's interface, served by lakeward's local session."
        # A name, not an import: that module imports the session, which imports this one.
        served = importlib.import_module("lakeward.session.entry_points.databricks_connect")
        names = ["DatabricksEnv", "DatabricksSession"]
        vars(module).update({name: getattr(served, name) for name in names}, __all__=names)


_finder = _Finder()
PATCHES = (PatchSpec("sys", "meta_path", "databricks.connect", "databricks.connect gives lakeward sessions"),)


def install() -> None:
    """Serve `databricks.connect` unless another package provides it."""
    insert_entry(sys, _finder, PATCHES[0].patch, first=False)


def uninstall() -> None:
    """Stop providing it; forget modules that were imported from here."""
    remove_entry(_finder)
    for name in (*reversed(CONNECT_MODULES), "databricks"):
        module = sys.modules.get(name)
        if module is not None and getattr(module, "__loader__", None) is _finder:
            del sys.modules[name]
