"""Import PySpark's test package only when it is used.

PySpark checks whether NumPy is installed for every literal and for every argument of a Java call. It does
so by `from pyspark.testing.utils import have_numpy`, and that package imports pandas and unittest: more than
a second of every new process. A finder on `sys.meta_path` serves the package's modules lazily: `have_numpy`
is answered without an import, by whether this process has imported NumPy; any other name loads the module.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from lakeward.patching import PatchSpec, insert_entry

_LAZY = ("pyspark.testing", "pyspark.testing.utils")
_lock = threading.RLock()


class _LazyModule(ModuleType):
    """A module whose code runs on the first access to a name that is not set."""

    def __getattr__(self, name: str) -> Any:
        if name == "have_numpy":
            return "numpy" in sys.modules
        if not name.startswith("__") or name == "__all__":
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __dir__(self) -> Sequence[str]:
        _load(self)
        return sorted(vars(self))


def _load(module: _LazyModule) -> None:
    loader = module.__spec__.loader if module.__spec__ else None
    if isinstance(loader, _LazyLoader):
        loader.load(module)


class _LazyLoader(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._state = "new"

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the first access runs the code."""
        module.__class__ = _LazyModule

    def load(self, module: ModuleType) -> None:
        """Run the module's code once; a failed import is retried on the next access."""
        with _lock:
            if self._state != "new":
                return
            self._state = "loading"
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._state = "new"
                raise
            self._state = "loaded"
            module.__class__ = ModuleType

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # get_source and others, for tracebacks


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _LAZY:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _LazyLoader(spec.loader)
        return spec


_finder = _Finder()
PATCHES = (
    PatchSpec("sys", "meta_path", "pyspark.testing", "PySpark's test package is imported when it is used"),
)


def install_numpy_import_patch() -> None:
    """Load `pyspark.testing` lazily; no effect if this process has imported it already."""
    insert_entry(sys, _finder, PATCHES[0].patch)
