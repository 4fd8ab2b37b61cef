"""Runs pipeline files so that they declare their datasets, as they are and under their true names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["load", "pickle_by_value", "user_files", "user_modules"]

_OURS = str(Path(__file__).parents[1])

# What was imported before the files of this pipeline were read; those of them that are its sources.
_earlier: set[str] = set()
_put_away: dict[str, ModuleType] = {}


def load(source: Path, given: Mapping[str, Any]) -> None:
    """Execute one file with `given` (spark, dbutils …) as globals.

    The file keeps its path and line numbers (breakpoints and tracebacks work). A file that another
    source has already imported is not executed again: its datasets are declared. Whatever the file
    raises goes through.
    """
    for name, module in list(sys.modules.items()):
        if _file_of(module) == source:
            if name not in _earlier:
                return
            # A unit test has imported it, outside of any pipeline.
            _put_away[name] = sys.modules.pop(name)
    code = compile(source.read_bytes(), str(source), "exec", dont_inherit=True)
    module = ModuleType(source.stem)
    module.__file__ = str(source)
    vars(module).update(given)
    # Under its own name, so that a source that imports this one gets these objects and not a second set.
    if source.stem not in sys.modules:
        sys.modules[source.stem] = module
    try:
        exec(code, vars(module))  # noqa: S102  # running the user's file is what this is for
    except BaseException:
        if sys.modules.get(source.stem) is module:
            del sys.modules[source.stem]
        raise


@contextmanager
def user_modules(folders: Sequence[Path]) -> Iterator[None]:
    """A block in which `folders` can be imported from; at its end what came from them is forgotten.

    Functions of such modules are pickled by value: Python workers cannot import them.
    """
    cloudpickle = _cloudpickle()

    added = [str(folder) for folder in dict.fromkeys(folders) if str(folder) not in sys.path]
    before = set(sys.modules)
    _earlier.update(before)
    sys.path[:0] = added
    importlib.invalidate_caches()
    try:
        yield
    finally:
        _earlier.clear()
        for folder in added:
            if folder in sys.path:
                sys.path.remove(folder)
        for name, module in list(sys.modules.items()):
            file = _file_of(module)
            if name not in before and file and any(folder in file.parents for folder in folders):
                if name in cloudpickle.list_registry_pickle_by_value():
                    cloudpickle.unregister_pickle_by_value(module)
                del sys.modules[name]
        sys.modules.update(_put_away)
        _put_away.clear()


def pickle_by_value(folders: Sequence[Path]) -> None:
    """Let functions of modules below `folders` travel to Python workers by value."""
    cloudpickle = _cloudpickle()

    for module in list(sys.modules.values()):
        file = _file_of(module)
        if file and any(folder in file.parents for folder in folders):
            cloudpickle.register_pickle_by_value(module)


def user_files(folders: Sequence[Path]) -> list[Path]:
    """The files of all modules imported from below `folders`."""
    files = [_file_of(module) for module in list(sys.modules.values())]
    return [file for file in files if file and any(folder in file.parents for folder in folders)]


def _cloudpickle() -> Any:
    from pyspark import cloudpickle

    return cloudpickle


def _file_of(module: object) -> Path | None:
    """A module's file, None for what is not the user's: installed packages, even below the user's folder
    (.venv), and the runtime itself, whose sources stand beside the bundle's in its own repository."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or "site-packages" in file or file.startswith(_OURS):
        return None
    return Path(file)
