"""Install and remove the redirection, through `lakeward.patching`."""

from __future__ import annotations

import _io
import builtins
import functools
import inspect
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from lakeward import patching
from lakeward.patching import PatchSpec, original, owner_name
from lakeward.session.path_redirection import os_functions
from lakeward.session.path_redirection.bind_mounts import bind_folders
from lakeward.session.path_redirection.import_system import PatchAfterImport, path_hook
from lakeward.session.path_redirection.libraries import LIBRARIES, entry_point
from lakeward.session.path_redirection.os_functions import open_function
from lakeward.session.path_redirection.prebound_references import prebound_references
from lakeward.session.path_redirection.programs import translate_arguments
from lakeward.session.path_redirection.translator import Function, PathTranslator, translate_first_path
from lakeward.session.paths import PathMap

_LAYER = "paths"

_REASON = "paths such as /Volumes are folders of the state folder"

# One per process: modules keep imported patched functions across uninstall and install.
_translator = PathTranslator(PathMap(()))


class _Redirection:
    """The active mapping, and what uninstall must restore."""

    def __init__(self) -> None:
        self.translator = _translator
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        self._functions()
        self._popen()
        self._insert("path_hooks", path_hook(self.translator))
        libraries = PatchAfterImport(LIBRARIES, self._library)
        self._insert("meta_path", libraries)
        for module in libraries.imported_modules():
            self._library(module)

    def uninstall(self) -> None:
        while self._undo:
            self._undo.pop()()
        self.translator.use(PathMap(()))
        sys.path_importer_cache.clear()

    def _replace(self, owner: object, attribute: str, replacement: Any) -> None:
        patching.wrap(owner, attribute, lambda _: replacement, layer=_LAYER, reason=_REASON)
        self._undo.append(lambda: patching.remove(owner, attribute, _LAYER))

    def _insert(self, attribute: str, item: object) -> None:
        patching.insert_entry(sys, attribute, item, layer=_LAYER, reason=_REASON)
        self._undo.append(lambda: patching.remove_entry(item))

    def _functions(self) -> None:
        for owner, attribute, replacement in list(_replacements(self.translator)):
            self._replace(owner, attribute, replacement)

    def _popen(self) -> None:
        """Map the working folder, the name and the arguments of a program."""
        plain = original(subprocess.Popen, "__init__")
        translator = self.translator
        signature = inspect.signature(plain)

        @functools.wraps(plain)
        def start(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                given = signature.bind(self, *args, **kwargs)
            except TypeError:
                plain(self, *args, **kwargs)  # raises it
                return
            shell = bool(given.arguments.get("shell"))
            given.arguments["args"] = translate_arguments(translator, given.arguments["args"], shell=shell)
            for name in ("cwd", "executable"):
                if given.arguments.get(name) is not None:
                    given.arguments[name] = translator.local(given.arguments[name])
            plain(*given.args, **given.kwargs)

        self._replace(subprocess.Popen, "__init__", start)

    def _library(self, module: ModuleType) -> None:
        for name, argument in LIBRARIES[module.__name__].items():
            if name in vars(module):
                plain = original(module, name)
                self._replace(module, name, entry_point(self.translator, plain, argument))


def _replacements(translator: PathTranslator) -> Iterator[tuple[object, str, Any]]:
    """Yield (owner, attribute, replacement) of Python's file functions, in all modules that bound them."""
    by_id: dict[int, Any] = {}
    os_open = original(os, "open")
    for name, function in os_functions.functions(translator, lambda name: original(os, name)):
        by_id[id(function.original)] = function
        yield os, name, function
    plain = original(builtins, "open")
    function = Function(open_function(translator, plain, os_open), plain, "io")
    by_id[id(plain)] = function
    yield builtins, "open", function
    yield io, "open", function
    code = original(io, "open_code")
    for owner in (io, _io):
        yield owner, "open_code", Function(translate_first_path(translator, code, "path"), code, "io")
    yield from prebound_references(by_id)


def declare_patches() -> list[PatchSpec]:
    """Return the patches of loaded modules, and of libraries that are patched on import."""
    places = {(owner_name(owner), attribute): None for owner, attribute, _ in _replacements(_translator)}
    places[("subprocess.Popen", "__init__")] = None
    places |= {("sys", "path_hooks"): None, ("sys", "meta_path"): None}
    places |= {(name, each): None for name, functions in LIBRARIES.items() for each in functions}
    return [PatchSpec(owner, attribute, _LAYER, _REASON) for owner, attribute in places]


_lock = threading.RLock()

_active: list[_Redirection] = []


def install(path_map: PathMap) -> None:
    """Activate `path_map` in this process; a further call only replaces the map.

    With LAKEWARD_BIND_MOUNTS=1 native libraries and programs see it, too; raises ConfigurationError
    (BIND_MOUNTS_UNAVAILABLE) if the system does not allow that.
    """
    with _lock:
        python_map = path_map.of_python()
        bind_folders(python_map)
        _translator.use(python_map)
        if not _active:
            _active.append(_Redirection())
            _active[0].install()
        # Entries of sys.path that did not exist before may be folders now.
        sys.path_importer_cache.clear()


def uninstall() -> None:
    """Restore everything; no effect if nothing is installed."""
    with _lock:
        while _active:
            _active.pop().uninstall()


def installed_map() -> PathMap | None:
    """Return the active map as Python's functions see it, or None."""
    return _translator.map if _active else None
