"""Reads pipeline files so that they declare their datasets, as they are and under their true names."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from lakeward.errors import PipelineError
from lakeward.notebooks import Notebook, has_separators, parse, parse_export
from lakeward.pipelines.cells import declare_cells
from lakeward.pipelines.in_sql import SqlFile
from lakeward.pipelines.modules import API

__all__ = ["load", "pickle_by_value", "user_files", "user_modules"]

_OURS = str(Path(__file__).parents[1])

# What was imported before the files of this pipeline were read; those of them that are its sources.
_earlier: set[str] = set()
_put_away: dict[str, ModuleType] = {}
# Folders that the files of this pipeline have added to `sys.path`.
_further: list[Path] = []
# Notebooks that those of this pipeline include with %run.
_included: list[Path] = []


def load(source: Path, given: Mapping[str, Any], *, root: Path | None = None) -> None:
    """Let one source declare its datasets: a notebook, SQL, or Python with `given` (spark …) as globals.

    The file keeps its path and line numbers (breakpoints and tracebacks work), and its folder is the working
    directory meanwhile. A file that another source has already imported is not executed again: its datasets
    are declared. Whatever the file raises goes through.
    """
    content = source.read_bytes()
    try:
        notebook = parse(content, source.suffix)
    except ValueError as error:
        raise PipelineError("PIPELINE_SOURCE_SYNTAX_ERROR", f"{source}: {error}.") from None
    sql = SqlFile(given["spark"], API)
    with _working_in(source.parent):
        if source.suffix == ".sql":
            _declare_sql(notebook, content, source, sql)
        elif notebook is not None and notebook.language != "python":
            _included.extend(declare_cells(notebook, source, dict(given), sql, root=root))
        else:
            _import(source, content, notebook, given, sql, root)


def _declare_sql(notebook: Notebook | None, content: bytes, source: Path, sql: SqlFile) -> None:
    if notebook is None:
        text = content.decode("utf-8-sig")
        if not has_separators(text):
            sql.declare(text, str(source))
            return
        notebook = parse_export(text, "sql")
    _included.extend(declare_cells(notebook, source, {}, sql))


def _import(
    source: Path,
    content: bytes,
    notebook: Notebook | None,
    given: Mapping[str, Any],
    sql: SqlFile,
    root: Path | None,
) -> None:
    for name, module in list(sys.modules.items()):
        if _file_of(module) == source:
            if name not in _earlier:
                return
            # A unit test has imported it, outside of any pipeline.
            _put_away[name] = sys.modules.pop(name)
    code = compile(content, str(source), "exec", dont_inherit=True) if notebook is None else None
    module = ModuleType(source.stem)
    module.__file__ = str(source)
    vars(module).update(given)
    # Under its own name, so that a source that imports this one gets these objects and not a second set.
    if source.stem not in sys.modules:
        sys.modules[source.stem] = module
    try:
        with _as_main(module):
            if code is not None:
                exec(code, vars(module))  # noqa: S102  # running the user's file is what this is for
            elif notebook is not None:
                _included.extend(declare_cells(notebook, source, vars(module), sql, root=root))
    except BaseException:
        if sys.modules.get(source.stem) is module:
            del sys.modules[source.stem]
        raise


@contextmanager
def _as_main(module: ModuleType) -> Iterator[None]:
    """A block in which `module` is the one that runs, as a notebook is; type hints look their names up there.

    Others import it by its own name all the time.
    """
    before, module.__name__ = sys.modules["__main__"], "__main__"
    sys.modules["__main__"] = module
    try:
        yield
    finally:
        sys.modules["__main__"] = before


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """A block with `folder` as working directory; relative entries that it adds to `sys.path` stay valid."""
    before, entries = Path.cwd(), set(sys.path)
    os.chdir(folder)
    try:
        yield
    finally:
        for at, entry in enumerate(sys.path):
            if entry not in entries:
                added = Path(entry)
                sys.path[at] = entry if added.is_absolute() else str(added.resolve())
                _further.append(Path(sys.path[at]))
        os.chdir(before)


@contextmanager
def user_modules(folders: Sequence[Path]) -> Iterator[None]:
    """A block in which `folders` can be imported from; at its end what came from them is forgotten.

    Functions of such modules are pickled by value: Python workers cannot import them.
    """
    cloudpickle = _cloudpickle()

    before, entries = set(sys.modules), list(sys.path)
    _earlier.update(before)
    sys.path[:0] = [str(folder) for folder in dict.fromkeys(folders) if str(folder) not in entries]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        _earlier.clear()
        sys.path[:] = entries
        for name, module in list(sys.modules.items()):
            file = _file_of(module)
            if name not in before and file and _is_below(file, folders):
                if name in cloudpickle.list_registry_pickle_by_value():
                    cloudpickle.unregister_pickle_by_value(module)
                del sys.modules[name]
        sys.modules.update(_put_away)
        _put_away.clear()
        _further.clear()
        _included.clear()


def pickle_by_value(folders: Sequence[Path]) -> None:
    """Let functions of modules below `folders` travel to Python workers by value."""
    cloudpickle = _cloudpickle()

    for module in list(sys.modules.values()):
        file = _file_of(module)
        if file and _is_below(file, folders):
            cloudpickle.register_pickle_by_value(module)


def user_files(folders: Sequence[Path]) -> list[Path]:
    """The files of all modules imported from below `folders`, and the notebooks that were included."""
    files = [_file_of(module) for module in list(sys.modules.values())]
    return [*_included, *(file for file in files if file and _is_below(file, folders))]


def _is_below(file: Path, folders: Sequence[Path]) -> bool:
    return any(folder in file.parents for folder in (*folders, *_further))


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
