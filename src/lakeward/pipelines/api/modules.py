"""The modules that user files import: `pyspark.pipelines` with the whole API, and `dlt`.

Both serve the same objects: inside `serve_modules()`, and in plain unit tests after `serve_tests()`.
`parameters` declares the names of the functions, their parameters and their support.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from lakeward import patching
from lakeward.patching import PatchSpec, insert_entry, is_replacing, remove_entry, replacing_spec
from lakeward.pipelines.api import datasets, expectations, flows, sinks
from lakeward.pipelines.api.parameters import FUNCTIONS
from lakeward.pipelines.api.signatures import disable_unit_tests, enable_unit_tests


def enable_local_execution() -> None:
    """Do nothing: outside of pipelines, decorated functions can always be called here."""


_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {
    **vars(datasets),
    **vars(expectations),
    **vars(sinks),
    **vars(flows),
    "enable_local_execution": enable_local_execution,
}
API: dict[str, Callable[..., Any]] = {
    name: _IMPLEMENTATIONS[row.name] for row in FUNCTIONS for name in row.names
}
_REASON = "pipeline files declare into lakeward's graph"


def _constant(value: object) -> Callable[[Any], Any]:
    return lambda _before: value


_API_PATCHES = tuple(
    PatchSpec("pyspark.pipelines", name, "pipelines", _REASON, _constant(value))
    for name, value in {**API, "__all__": sorted(API)}.items()
)
_DLT = PatchSpec("sys", "meta_path", "dlt", "pipeline files import dlt")
PATCHES = (*_API_PATCHES, _DLT)


class _DltFinder(MetaPathFinder, Loader):
    """Finds `dlt` before all other finders, as the import hook of the platform does in a pipeline.

    Repositories have folders of that name, and environments have packages of that name.
    """

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "dlt":
            return None
        return replacing_spec("dlt", self, PathFinder.find_spec("dlt"))

    def exec_module(self, module: ModuleType) -> None:
        _fill_module(module)


def _fill_module(module: ModuleType) -> None:
    module.__doc__ = "Declarative pipelines, served by lakeward."
    vars(module).update(API, __all__=sorted(API))


def fill_dlt(module: ModuleType) -> None:
    """Provide the API in `module`, the `dlt` of plain unit tests."""
    enable_unit_tests()
    _fill_module(module)


def serve_tests() -> None:
    """Let `from pyspark import pipelines` provide the whole API in plain unit tests."""
    enable_unit_tests()
    patching.install(_API_PATCHES)


def stop_serving_tests() -> None:
    """Restore `pyspark.pipelines`."""
    disable_unit_tests()
    if "pyspark.pipelines" in sys.modules:
        patching.uninstall(_API_PATCHES)


def _is_ours(module: object) -> bool:
    """Return whether a finder of lakeward has found `module`; a mock of a test has no spec."""
    return is_replacing(getattr(module, "__spec__", None))


@contextmanager
def serve_modules() -> Iterator[None]:
    """Let `from pyspark import pipelines` and `import dlt` provide this API until the block ends.

    Both are restored afterwards; functions that a user file keeps remain usable in the update. Another `dlt`
    in `sys.modules` (a mock, type stubs, a package of that name) is removed meanwhile, because an update
    would not see its declarations.
    """
    finder = _DltFinder()
    other = None if _is_ours(sys.modules.get("dlt")) else sys.modules.pop("dlt", None)
    added = patching.install(_API_PATCHES)
    insert_entry(sys, finder, _DLT.patch)
    try:
        yield
    finally:
        remove_entry(finder)
        module = sys.modules.get("dlt")
        if module is not None and isinstance(getattr(module, "__loader__", None), _DltFinder):
            del sys.modules["dlt"]
        if other is not None:
            sys.modules["dlt"] = other
        patching.uninstall(added)
