"""Install and remove the redirection, through `lakeward.patching`.

Three kinds of references need more than a patch of the function: names that other modules bound before
(`from os import listdir`, attributes, defaults), libraries that are imported later, and modules below a
mapped entry of `sys.path`.
"""

from __future__ import annotations

import _io
import builtins
import functools
import glob
import inspect
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any

from lakeward import patching
from lakeward.patching import PatchSpec, original, owner_name
from lakeward.session.path_redirection import os_functions
from lakeward.session.path_redirection.bind_mounts import bind_folders
from lakeward.session.path_redirection.libraries import LIBRARIES, entry_point
from lakeward.session.path_redirection.os_functions import open_function
from lakeward.session.path_redirection.programs import translate_arguments
from lakeward.session.path_redirection.translator import Function, PathTranslator, translate_first_path
from lakeward.session.paths import PathMap

_LAYER = "paths"
_REASON = "paths such as /Volumes are folders of the state folder"
# One per process: modules keep imported patched functions across uninstall and install.
_translator = PathTranslator(PathMap(()))
# These modules define the plain functions, which lakeward itself also needs.
_KEEP = {"builtins", "io", "os", "posix", "_io", "nt"}


class _Redirection:
    """The active mapping, and what uninstall must restore."""

    def __init__(self) -> None:
        self.translator = _translator
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        self._functions()
        self._popen()
        self._insert("path_hooks", _path_hook(self.translator))
        libraries = _PatchAfterImport(LIBRARIES, self._library)
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
    yield from _prebound_references(by_id)


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


def _path_hook(translator: PathTranslator) -> Callable[[str], Any]:
    """A hook of `sys.path_hooks`: `sys.path.append("/Workspace/…")` finds modules in the mapped folder."""

    def hook(entry: str) -> Any:
        local = translator.find(entry)
        if local is None:
            raise ImportError("not a mapped path", path=entry)
        for other in sys.path_hooks:
            if other is not hook:
                try:
                    return other(local)
                except ImportError:
                    continue
        raise ImportError("no importer for this path", path=entry)

    return hook


class _PatchAfterImport(MetaPathFinder):
    """Calls `then(module)` right after one of `names` is imported."""

    def __init__(self, names: Iterable[str], then: Callable[[ModuleType], None]) -> None:
        self._names = frozenset(names)
        self._then = then

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return the spec of the import system, with `then` called after the loader."""
        if fullname not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            plain(module)
            self._then(module)

        loader.exec_module = exec_module
        return spec

    def imported_modules(self) -> Iterable[ModuleType]:
        """Return those of the modules that are imported already."""
        return [sys.modules[name] for name in sorted(self._names) if name in sys.modules]


def _prebound_references(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
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
