"""The modules that user files import: `pyspark.pipelines` with the whole API, and `dlt`.

Both serve the same objects (spec §1.2). They are in place inside `serving()`, and for plain unit tests once
`serve_tests()` was called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from lakeward.pipelines import decorators, expect, flows, outlets, outside
from lakeward.pipelines.parameters import FUNCTIONS
from lakeward.session import patches

__all__ = ["API", "fill_dlt", "serve_tests", "serving", "stop_serving_tests"]

_THERE: dict[str, Callable[..., Any]] = {
    **{name: getattr(decorators, name) for name in decorators.__all__},
    **{name: getattr(flows, name) for name in flows.__all__},
    **{name: getattr(expect, name) for name in expect.__all__},
    **{name: getattr(outlets, name) for name in outlets.__all__},
}
API: dict[str, Callable[..., Any]] = {name: _THERE[row.name] for row in FUNCTIONS for name in row.names}
_WHY = "pipeline files declare into lakeward's graph"


class _DltFinder(MetaPathFinder, Loader):
    """Finds `dlt` when nobody else does: it stands last on the path, so an installed `dlt` comes first."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec("dlt", self, origin="lakeward") if fullname == "dlt" else None

    def exec_module(self, module: ModuleType) -> None:
        _fill(module)


def _fill(module: ModuleType) -> None:
    module.__doc__ = "Declarative pipelines, served by lakeward."
    vars(module).update(API, __all__=sorted(API))


def fill_dlt(module: ModuleType) -> None:
    """Make `module` the `dlt` of plain unit tests."""
    outside.allow()
    _fill(module)


def serve_tests() -> None:
    """Let `from pyspark import pipelines` give the whole API in plain unit tests."""
    outside.allow()
    _replace(sys.modules["pyspark.pipelines"])


def stop_serving_tests() -> None:
    """`pyspark.pipelines` as it was."""
    outside.forbid()
    module = sys.modules.get("pyspark.pipelines")
    if module is not None:
        _restore(module)


def _replace(pipelines: ModuleType) -> None:
    for name, value in {**API, "__all__": sorted(API)}.items():
        patches.replace(pipelines, name, value, why=_WHY)


def _restore(pipelines: ModuleType) -> None:
    for name in [*API, "__all__"]:
        patches.undo(pipelines, name)


def _is_made_by_hand(module: object) -> bool:
    """A mock or an empty module that a test has put into `sys.modules`: no finder has found it."""
    return not isinstance(getattr(module, "__spec__", None), ModuleSpec)


@contextmanager
def serving() -> Iterator[None]:
    """A block in which `from pyspark import pipelines` and `import dlt` give this package's API.

    Afterwards both are as they were; functions that a user file has kept stay usable in the update. A `dlt`
    that is installed comes first; one that a unit test has put into `sys.modules` is put away meanwhile,
    since an update over it would declare nothing.
    """
    from pyspark import pipelines

    finder = _DltFinder()
    were_served = vars(pipelines).get("table") is API["table"]
    by_hand = sys.modules.pop("dlt") if _is_made_by_hand(sys.modules.get("dlt", sys)) else None
    _replace(pipelines)
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        module = sys.modules.get("dlt")
        if module is not None and isinstance(getattr(module, "__loader__", None), _DltFinder):
            del sys.modules["dlt"]
        if by_hand is not None:
            sys.modules["dlt"] = by_hand
        if not were_served:
            _restore(pipelines)
