"""Install and remove the redirection, through `lakeward.patching`.

It consists of Python's file functions with all references to them (`os_functions`), `subprocess.Popen`
(`programs`), libraries that open files in C (`libraries`), and `sys.path` entries below a mapped folder.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lakeward import patching
from lakeward.patching import PatchSpec, original, owner_name
from lakeward.session.path_redirection.bind_mounts import bind_folders
from lakeward.session.path_redirection.libraries import LIBRARIES, entry_point
from lakeward.session.path_redirection.os_functions import replacements
from lakeward.session.path_redirection.programs import start_of_subprocess
from lakeward.session.path_redirection.translator import PathTranslator
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
        plain = original(subprocess.Popen, "__init__")
        self._replace(subprocess.Popen, "__init__", start_of_subprocess(self.translator, plain))
        self._insert("path_hooks", _path_hook(self.translator))
        libraries = patching.AfterImport(LIBRARIES, self._library)
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
        patching.insert_entry(sys, item, patching.Patch("sys", attribute, _LAYER, _REASON))
        self._undo.append(lambda: patching.remove_entry(item))

    def _functions(self) -> None:
        for owner, attribute, replacement in list(replacements(self.translator)):
            self._replace(owner, attribute, replacement)

    def _library(self, module: ModuleType) -> None:
        for name, argument in LIBRARIES[module.__name__].items():
            if name in vars(module):
                plain = original(module, name)
                self._replace(module, name, entry_point(self.translator, plain, argument))


def declare_patches() -> list[PatchSpec]:
    """Return the patches of loaded modules, and of libraries that are patched on import."""
    places = {(owner_name(owner), attribute): None for owner, attribute, _ in replacements(_translator)}
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
    """Return a hook for `sys.path_hooks`: `sys.path.append("/Workspace/…")` finds mapped modules."""

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
