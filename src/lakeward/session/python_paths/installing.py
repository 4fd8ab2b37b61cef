"""Putting the mapping in force and taking it back, all of it through `lakeward.session.patches`."""

from __future__ import annotations

import _io
import builtins
import functools
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lakeward.session import patches
from lakeward.session.paths import PathMap
from lakeward.session.python_paths import system
from lakeward.session.python_paths.bound import names_taken_earlier
from lakeward.session.python_paths.importing import AfterImport, path_hook
from lakeward.session.python_paths.libraries import LIBRARIES, entry_point
from lakeward.session.python_paths.opening import opening
from lakeward.session.python_paths.reach import Function, Reach, first_path

__all__ = ["install", "installed_map", "uninstall"]

_WHY = "paths such as /Volumes are folders of the state folder"


# One for the life of the process: who imported a patched function keeps it over uninstall and install.
_reach = Reach(PathMap(()))


class _Installed:
    """The mapping while it is in force, and what has to be taken back."""

    def __init__(self) -> None:
        self.reach = _reach
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        self._functions()
        self._popen()
        self._insert("path_hooks", path_hook(self.reach))
        libraries = AfterImport(LIBRARIES, self._library)
        self._insert("meta_path", libraries)
        for module in libraries.already():
            self._library(module)

    def uninstall(self) -> None:
        while self._undo:
            self._undo.pop()()
        self.reach.use(PathMap(()))
        sys.path_importer_cache.clear()

    def _replace(self, owner: object, attribute: str, replacement: Any) -> None:
        patches.replace(owner, attribute, replacement, why=_WHY)
        self._undo.append(lambda: patches.undo(owner, attribute))

    def _insert(self, attribute: str, item: object) -> None:
        patches.insert(sys, attribute, item, why=_WHY)
        self._undo.append(lambda: patches.undo(sys, attribute, item))

    def _functions(self) -> None:
        replacements: dict[int, Any] = {}
        os_open = patches.original(os, "open")
        for name, function in system.functions(self.reach, lambda name: patches.original(os, name)):
            replacements[id(function.original)] = function
            self._replace(os, name, function)
        plain = patches.original(builtins, "open")
        function = Function(opening(self.reach, plain, os_open), plain, "io")
        replacements[id(plain)] = function
        self._replace(builtins, "open", function)
        self._replace(io, "open", function)
        code = patches.original(io, "open_code")
        for owner in (io, _io):
            self._replace(owner, "open_code", Function(first_path(self.reach, code, "path"), code, "io"))
        for place, attribute, replacement in names_taken_earlier(replacements):
            self._replace(place, attribute, replacement)

    def _popen(self) -> None:
        """A program's working folder; what it does with paths itself is out of reach."""
        plain = patches.original(subprocess.Popen, "__init__")
        local = self.reach.local

        @functools.wraps(plain)
        def start(self: Any, *args: Any, **kwargs: Any) -> None:
            if kwargs.get("cwd") is not None:
                kwargs["cwd"] = local(kwargs["cwd"])
            plain(self, *args, **kwargs)

        self._replace(subprocess.Popen, "__init__", start)

    def _library(self, module: ModuleType) -> None:
        for name, argument in LIBRARIES[module.__name__].items():
            if name in vars(module):
                plain = patches.original(module, name)
                self._replace(module, name, entry_point(self.reach, plain, argument))


_lock = threading.RLock()
_in_force: list[_Installed] = []


def install(path_map: PathMap) -> None:
    """Put `path_map` in force in this process; a further call changes the map and nothing else."""
    with _lock:
        _reach.use(path_map.of_python())
        if not _in_force:
            _in_force.append(_Installed())
            _in_force[0].install()
        # Entries of sys.path that led nowhere before may be folders now.
        sys.path_importer_cache.clear()


def uninstall() -> None:
    """Give everything back; nothing happens where nothing is installed."""
    with _lock:
        while _in_force:
            _in_force.pop().uninstall()


def installed_map() -> PathMap | None:
    """The map in force, as Python's functions see it; None where none is."""
    return _reach.map if _in_force else None
