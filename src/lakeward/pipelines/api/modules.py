"""The modules that user files import: `pyspark.pipelines` with the whole API, and `dlt`.

Both serve the same objects: inside `serve_modules()`, and in plain unit tests after `serve_tests()`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from lakeward import patching
from lakeward.patching import PatchSpec, append_entry, remove_entry
from lakeward.pipelines.api import datasets, flows
from lakeward.pipelines.api.parameters import FUNCTIONS
from lakeward.pipelines.api.signatures import disable_unit_tests, enable_unit_tests

_IMPLEMENTATIONS = {**vars(datasets), **vars(flows)}
API: dict[str, Callable[..., Any]] = {
    name: _IMPLEMENTATIONS[row.name] for row in FUNCTIONS for name in row.names
}
_REASON = "pipeline files declare into lakeward's graph"


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda _before: value


_API_PATCHES = tuple(
    PatchSpec("pyspark.pipelines", name, "pipelines", _REASON, _constant(value))
    for name, value in {**API, "__all__": sorted(API)}.items()
)
_DLT = PatchSpec("sys", "meta_path", "dlt", "pipeline files import dlt")
PATCHES = (*_API_PATCHES, _DLT)


class _DltFinder(MetaPathFinder, Loader):
    """Finds `dlt` if no other finder does: it is the last one, so an installed `dlt` takes precedence."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec("dlt", self, origin="lakeward") if fullname == "dlt" else None

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


def _is_test_double(module: object) -> bool:
    """Return whether `module` is a mock or an empty module from a test: no finder has found it."""
    return not isinstance(getattr(module, "__spec__", None), ModuleSpec)


@contextmanager
def serve_modules() -> Iterator[None]:
    """Let `from pyspark import pipelines` and `import dlt` provide this API until the block ends.

    Both are restored afterwards; functions that a user file keeps remain usable in the update. An installed
    `dlt` takes precedence. A `dlt` that a unit test put into `sys.modules` is removed meanwhile, because an
    update would not see its declarations.
    """
    finder = _DltFinder()
    by_hand = sys.modules.pop("dlt") if _is_test_double(sys.modules.get("dlt", sys)) else None
    added = patching.install(_API_PATCHES)
    append_entry(sys, "meta_path", finder, layer=_DLT.layer, reason=_DLT.reason)
    try:
        yield
    finally:
        remove_entry(finder)
        module = sys.modules.get("dlt")
        if module is not None and isinstance(getattr(module, "__loader__", None), _DltFinder):
            del sys.modules["dlt"]
        if by_hand is not None:
            sys.modules["dlt"] = by_hand
        patching.uninstall(added)
