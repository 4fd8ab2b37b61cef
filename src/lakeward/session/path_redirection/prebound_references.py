"""References to plain functions bound before the patches: `from os import listdir`, attributes, defaults."""

from __future__ import annotations

import glob
import pathlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

# These modules define the plain functions, which lakeward itself also needs.
_KEEP = {"builtins", "io", "os", "posix", "_io", "nt"}


def prebound_references(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    """Yield (owner, attribute, replacement) for each reference to a plain function; `replacements` by id."""
    yield from _modules(replacements)
    yield from _classes(replacements)
    yield from _defaults(replacements)


def _modules(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    for name, module in list(sys.modules.items()):
        if name in _KEEP or name.startswith("lakeward.session.") or not isinstance(module, ModuleType):
            continue
        for attribute, value in list(vars(module).items()):
            if id(value) in replacements:
                yield module, attribute, replacements[id(value)]


def _classes(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    """Yield classes with functions as attributes: pathlib's accessor (3.10) and glob's workers (3.13)."""
    for module, names in (
        (pathlib, ("_NormalAccessor",)),
        (glob, ("_GlobberBase", "_StringGlobber", "_Globber")),
    ):
        for cls in (vars(module)[name] for name in names if name in vars(module)):
            for attribute, value in list(vars(cls).items()):
                plain = value.__func__ if isinstance(value, staticmethod) else value
                if id(plain) in replacements:
                    yield cls, attribute, replacements[id(plain)]


def _defaults(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    """Yield parameter defaults: NamedTemporaryFile removes its file by such an `os.unlink`."""
    cls: Any = vars(tempfile).get("_TemporaryFileCloser")
    for attribute, value in list(vars(cls).items()) if cls else ():
        if isinstance(value, FunctionType) and any(id(d) in replacements for d in value.__defaults__ or ()):
            defaults = tuple(replacements.get(id(d), d) for d in value.__defaults__ or ())
            changed = FunctionType(
                value.__code__, value.__globals__, value.__name__, defaults, value.__closure__
            )
            changed.__kwdefaults__ = value.__kwdefaults__
            yield cls, attribute, changed
