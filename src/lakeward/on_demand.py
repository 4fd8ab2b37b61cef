"""Front doors that load what stands behind them when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["from_modules"]


def from_modules(package: str, where: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A `__getattr__` for `package` that takes a name from the module of it that `where` lists it under.

    Raises AttributeError for any other name, as a module without it does.
    """

    def find(name: str) -> Any:
        for module, names in where.items():
            if name in names:
                return getattr(importlib.import_module(f"{package}.{module}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
