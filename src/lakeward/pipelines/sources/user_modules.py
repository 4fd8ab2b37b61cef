"""The modules and notebooks that the sources of a pipeline use: imported, pickled by value, removed again."""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from lakeward.pickling_finder import PicklingFinder
from lakeward.user_code import is_user_file

# Modules imported before the update, and those among them that are its sources.
_imported_before: set[str] = set()
_hidden_modules: dict[str, ModuleType] = {}
# Folders that source files have added to `sys.path`.
_added_folders: list[Path] = []
# Notebooks that source notebooks include with %run.
_included_notebooks: list[Path] = []
# With one of these, a file may import what no statement names.
_DYNAMIC = {"importlib", "import_module", "__import__", "pkgutil", "runpy", "modules"}


def add_included_notebooks(notebooks: Iterable[Path]) -> None:
    """Record notebooks that a source notebook includes with %run."""
    _included_notebooks.extend(notebooks)


def is_imported_by_source(source: Path) -> bool:
    """Return whether another source has imported the file `source`: its datasets are declared."""
    modules = sys.modules.copy().items()
    return any(name not in _imported_before and _file_of(module) == source for name, module in modules)


def hide_earlier_imports(source: Path) -> None:
    """Hide modules of the file `source` until the pipeline's end: a unit test imported them before."""
    for name, module in sys.modules.copy().items():
        if name in _imported_before and _file_of(module) == source:
            _hidden_modules[name] = sys.modules.pop(name)


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Use `folder` as working directory; make relative entries added to `sys.path` absolute."""
    before, entries = Path.cwd(), set(sys.path)
    os.chdir(folder)
    try:
        yield
    finally:
        for at, entry in enumerate(sys.path):
            if entry not in entries:
                added = Path(entry)
                sys.path[at] = entry if added.is_absolute() else str(added.resolve())
                _added_folders.append(Path(sys.path[at]))
        os.chdir(before)


@contextmanager
def user_modules(folders: Sequence[Path]) -> Iterator[None]:
    """Allow imports from `folders` until the block ends, then remove the imported modules.

    Their functions are pickled by value: Python workers cannot import them. So is a data source that a source
    file registers while it is executed.
    """
    cloudpickle = _cloudpickle()
    finder = PicklingFinder()

    before, entries = set(sys.modules), list(sys.path)
    _imported_before.update(before)
    sys.path[:0] = [str(folder) for folder in dict.fromkeys(folders) if str(folder) not in entries]
    # Behind the finders of `dlt` and others, which it would hide.
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0
    sys.meta_path.insert(place, finder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        finder.forget()
        _imported_before.clear()
        sys.path[:] = entries
        for name, module in sys.modules.copy().items():
            file = _file_of(module)
            if name not in before and file and _is_below(file, folders):
                if name in cloudpickle.list_registry_pickle_by_value():
                    cloudpickle.unregister_pickle_by_value(module)
                del sys.modules[name]
                _forget_attribute(name, module)
        sys.modules.update(_hidden_modules)
        _hidden_modules.clear()
        _added_folders.clear()
        _included_notebooks.clear()


def _forget_attribute(name: str, module: object) -> None:
    """Remove a module from its package, where `from package import module` would find it again."""
    package, _, attribute = name.rpartition(".")
    parent = sys.modules.get(package)
    if parent is not None and getattr(parent, attribute, None) is module:
        delattr(parent, attribute)


def pickle_by_value(folders: Sequence[Path]) -> None:
    """Pickle functions of modules below `folders` by value, for Python workers."""
    cloudpickle = _cloudpickle()

    for module in list(sys.modules.values()):
        file = _file_of(module)
        if file and _is_below(file, folders):
            cloudpickle.register_pickle_by_value(module)


def user_files(folders: Sequence[Path], sources: Sequence[Path]) -> list[Path]:
    """Return the files below `folders` that may define what `sources` declare, without the sources.

    These are the included notebooks, the modules that were imported since `user_modules()`, and of those that
    the process had imported before, the ones that the sources reach: other tasks of a job may run in the same
    process, and their modules do not belong to the pipeline.
    """
    found = {name: _file_of(module) for name, module in sys.modules.copy().items()}
    files = {name: file for name, file in found.items() if file and _is_below(file, folders)}
    before = files.keys() & _imported_before
    reached = _reached_modules([*sources, *_included_notebooks], files) if before else set()
    return [
        *_included_notebooks,
        *(file for name, file in files.items() if name not in before or name in reached),
    ]


def _is_below(file: Path, folders: Sequence[Path]) -> bool:
    return any(folder in file.parents for folder in (*folders, *_added_folders))


def _cloudpickle() -> Any:
    from pyspark import cloudpickle

    return cloudpickle


def _file_of(module: object) -> Path | None:
    """Return a module's file, None for modules that are not the user's.

    Those are installed packages, even below the user's folder (.venv), and lakeward itself.
    """
    file = getattr(module, "__file__", None)
    return Path(file) if isinstance(file, str) and is_user_file(file) else None


def _reached_modules(sources: Iterable[Path], candidates: dict[str, Path]) -> set[str]:
    """Return those of `candidates`, loaded modules and their files, that `sources` reach.

    Every candidate is reached if one of the files imports dynamically or is not plain Python.
    """
    waiting: list[tuple[Path, str]] = [(source, "") for source in sources if source.suffix != ".sql"]
    reached: set[str] = set()
    while waiting:
        file, package = waiting.pop()
        names = _imported_names(file, package)
        if names is None:
            return set(candidates)
        for name in names & candidates.keys() - reached:
            reached.add(name)
            waiting.append((candidates[name], _package_of(name)))
    return reached


def _package_of(name: str) -> str:
    return str(getattr(sys.modules.get(name), "__package__", None) or "")


def _imported_names(file: Path, package: str) -> set[str] | None:
    """Return the names of modules that `file` may import, with their parents; None if they are unknown."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_name(node, package)
            found.update({base, *(f"{base}.{alias.name}" for alias in node.names)})
        elif (isinstance(node, ast.Name) and node.id in _DYNAMIC) or (
            isinstance(node, ast.Attribute) and node.attr in _DYNAMIC
        ):
            return None
    names = {parent for name in found for parent in _with_parents(name)}
    return None if names & _DYNAMIC else names


def _absolute_name(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


def code_hash(files: Iterable[Path]) -> str:
    """Return a hash over the user's files; a change in any of them may change the meaning of a query.

    It is the same when the files are moved together, as to another checkout of the repository.
    """
    whole = hashlib.sha256()
    for file in sorted(set(files)):
        try:
            whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
        except OSError:
            continue
    return whole.hexdigest()
