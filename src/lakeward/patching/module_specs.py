"""Specs of modules that are served in place of installed modules or folders of the same name."""

from __future__ import annotations

from importlib.abc import Loader
from importlib.machinery import ModuleSpec

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
