"""The modules that user files import: `pyspark.pipelines` with the whole API, and `dlt`.

Both serve the same objects (spec §1.2). They are in place only inside `serving()`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from lakeward.pipelines import decorators, expect, flows
from lakeward.pipelines.later import LATER
from lakeward.pipelines.parameters import FUNCTIONS
from lakeward.session import patches

__all__ = ["API", "serving"]

_THERE: dict[str, Callable[..., Any]] = {
    **{name: getattr(decorators, name) for name in decorators.__all__},
    **{name: getattr(flows, name) for name in flows.__all__},
    **{name: getattr(expect, name) for name in expect.__all__},
}
API: dict[str, Callable[..., Any]] = {
    **{name: _THERE[row.name] for row in FUNCTIONS if not row.lacking for name in row.names},
    **LATER,
}
_WHY = "pipeline files declare into lakeward's graph"


class _DltFinder(MetaPathFinder, Loader):
    """Finds `dlt` when nobody else does: it stands last on the path, so an installed `dlt` comes first."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec("dlt", self, origin="lakeward") if fullname == "dlt" else None

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = "Declarative pipelines, served by lakeward."
        vars(module).update(API, __all__=sorted(API))


@contextmanager
def serving() -> Iterator[None]:
    """A block in which `from pyspark import pipelines` and `import dlt` give this package's API.

    Afterwards both are as they were; functions that a user file has kept stay usable in the update.
    """
    from pyspark import pipelines

    finder = _DltFinder()
    for name, value in {**API, "__all__": sorted(API)}.items():
        patches.replace(pipelines, name, value, why=_WHY)
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        module = sys.modules.get("dlt")
        if module is not None and isinstance(getattr(module, "__loader__", None), _DltFinder):
            del sys.modules["dlt"]
        for name in [*API, "__all__"]:
            patches.undo(pipelines, name)
