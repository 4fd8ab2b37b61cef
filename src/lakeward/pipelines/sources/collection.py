"""Finds the source files of a pipeline, executes them, and collects the graph that they declare.

Files are executed under their own paths and names."""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims import display, displayHTML
from lakeward.dbutils import NotebookExit, dbutils, environment, use_environment
from lakeward.errors import ConfigurationError, PipelineError
from lakeward.notebooks import Notebook, has_sql_separators, parse, parse_export
from lakeward.pickling_finder import PicklingFinder
from lakeward.pipelines.api.modules import API
from lakeward.pipelines.api.registry import GraphRegistry, register_into
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.pipelines.graph.error_location import with_source_location
from lakeward.pipelines.sources.notebook_source import declare_cells
from lakeward.pipelines.sql.declarations import SqlFile
from lakeward.suggestions import did_you_mean
from lakeward.user_code import is_user_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SUFFIXES = (".py", ".sql", ".ipynb")
"""The forms of pipeline sources that can be run."""


def find_sources(paths: Sequence[Path]) -> list[Path]:
    """Return the source files at `paths`, each once, in a stable order.

    A folder means every source below it. Python packages (folders with an `__init__.py`) are imported by
    sources and contain none. Raises ConfigurationError for a path that does not exist or contains no
    source.
    """
    found: dict[Path, None] = {}
    for path in map(Path.absolute, paths):
        if path.is_dir():
            inside = list(_sources_below(path))
            if not inside:
                raise ConfigurationError(
                    "PIPELINE_SOURCE_NOT_FOUND",
                    f"The folder {path} contains no pipeline source ({_suffix_list()}).",
                    next_step="Pass the folder that contains the dataset files.",
                )
            found.update(dict.fromkeys(inside))
        elif any(mark in path.name for mark in "*?[") and (matching := _glob_sources(path)):
            found.update(dict.fromkeys(matching))
        elif path.is_file():
            if path.suffix not in SUFFIXES:
                raise ConfigurationError(
                    "NOT_SUPPORTED",
                    f"{path} is not a pipeline source; sources end with {_suffix_list()}.",
                    next_step="Pass such files, or folders that contain them.",
                )
            found[path] = None
        else:
            near = path.parent.iterdir() if path.parent.is_dir() else ()
            raise ConfigurationError(
                "PIPELINE_SOURCE_NOT_FOUND",
                f"There is no pipeline source at {path}.",
                next_step=did_you_mean(path.name, [each.name for each in near]),
            )
    if not found:
        raise ConfigurationError("PIPELINE_SOURCE_NOT_FOUND", "No pipeline source was given.")
    return list(found)


def _sources_below(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            if not (entry / "__init__.py").exists():
                yield from _sources_below(entry)
        elif entry.suffix in SUFFIXES and entry.name != "__init__.py":
            yield entry


def _glob_sources(pattern: Path) -> list[Path]:
    files = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    return [file for file in files if file.is_file() and file.suffix in SUFFIXES]


def _suffix_list() -> str:
    return ", ".join(SUFFIXES)


# Globals of every source file, created for the session of the update.
FILE_GLOBALS: dict[str, Callable[[SparkSession], Any]] = {
    "spark": lambda spark: spark,
    "dbutils": lambda _: dbutils(),
    "display": lambda _: display,
    "displayHTML": lambda _: displayHTML,
}


@dataclass(frozen=True)
class CollectedGraph:
    """The graph of the files that could be executed, and all errors."""

    graph: DataflowGraph
    errors: tuple[PipelineError, ...]


def collect(
    spark: SparkSession,
    sources: Sequence[Path],
    default_schema: DefaultSchema,
    *,
    folders: tuple[Path, ...],
) -> CollectedGraph:
    """Execute `sources` in order, inside `serve_modules()`.

    A file that fails is one error with its line; the others are still executed.
    """
    registry = GraphRegistry(default_schema)
    # As in any file that runs as __main__; `exec` adds the module's dictionary instead.
    given = {name: make(spark) for name, make in FILE_GLOBALS.items()} | {"__builtins__": builtins}
    errors = []
    with register_into(registry):
        for source in sources:
            try:
                load_source(source, given, root=folders[0] if folders else None)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a user's file may raise anything
                errors.append(with_source_location(error, what=str(source), folders=folders))
        try:
            graph, mistakes = registry.finish()
        except Exception as error:  # noqa: BLE001  # as above
            return CollectedGraph(
                DataflowGraph(default_schema, ()),
                (*errors, with_source_location(error, what="the pipeline", folders=folders)),
            )
    # A temporary view alone has nothing to be updated.
    is_empty = all(dataset.dataset_type == "view" and dataset.definition is None for dataset in graph)
    if is_empty and not errors and not mistakes:
        files = ", ".join(str(source) for source in sources)
        found = "temporary views alone" if graph.datasets else "no dataset"
        mistakes.append(
            PipelineError(
                "RUN_EMPTY_PIPELINE",
                f"The files declare {found}: {files}.",
                next_step="Decorate a function with @dp.table or @dp.materialized_view.",
            )
        )
    return CollectedGraph(graph, (*errors, *mistakes))


def common_root(sources: Sequence[Path]) -> Path:
    """Return the folder that contains all sources."""
    return Path(os.path.commonpath([source.parent for source in sources]))


# Modules imported before the update, and those among them that are its sources.
_imported_before: set[str] = set()
_hidden_modules: dict[str, ModuleType] = {}
# Folders that source files have added to `sys.path`.
_added_folders: list[Path] = []
# Notebooks that source notebooks include with %run.
_included_notebooks: list[Path] = []
# With one of these, a file may import what no statement names.
_DYNAMIC = {"importlib", "import_module", "__import__", "pkgutil", "runpy", "modules"}


def load_source(source: Path, given: Mapping[str, Any], *, root: Path | None) -> None:
    """Execute one source so that it declares its datasets: a notebook, SQL, or Python.

    The file keeps its path and line numbers (breakpoints and tracebacks work), and runs in its own folder.
    A file that another source has imported is not executed again: its datasets are declared. `given` are
    the globals of Python files (spark …). Errors of the file propagate.
    """
    content = source.read_bytes()
    if not _is_text(content, source.suffix):
        raise PipelineError("PIPELINE_SOURCE_SYNTAX_ERROR", f"{source}: it is not UTF-8 text.")
    try:
        notebook = parse(content, source.suffix)
    except ValueError as error:
        raise PipelineError("PIPELINE_SOURCE_SYNTAX_ERROR", f"{source}: {error}.") from None
    sql = SqlFile(given["spark"], API)
    with _working_in(source.parent), use_environment(environment().in_notebook(source)):
        if source.suffix == ".sql":
            _declare_sql(notebook, content, source, sql)
        elif notebook is not None and notebook.language != "python":
            _included_notebooks.extend(declare_cells(notebook, source, dict(given), sql, root=root))
        else:
            _import(source, content, notebook, given, sql, root)


def _is_text(content: bytes, suffix: str) -> bool:
    """Return whether a source can be text; Python files may declare another encoding than UTF-8."""
    if b"\0" in content:
        return False
    if suffix == ".sql":
        try:
            content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return False
    return True


def _declare_sql(notebook: Notebook | None, content: bytes, source: Path, sql: SqlFile) -> None:
    if notebook is None:
        text = content.decode("utf-8-sig")
        if not has_sql_separators(text):
            sql.declare(text, str(source))
            return
        notebook = parse_export(text, "sql")
    _included_notebooks.extend(declare_cells(notebook, source, {}, sql))


def _import(
    source: Path,
    content: bytes,
    notebook: Notebook | None,
    given: Mapping[str, Any],
    sql: SqlFile,
    root: Path | None,
) -> None:
    for name, module in sys.modules.copy().items():
        if _file_of(module) == source:
            if name not in _imported_before:
                return
            # Imported by a unit test, outside of any pipeline.
            _hidden_modules[name] = sys.modules.pop(name)
    code = compile(content, str(source), "exec", dont_inherit=True) if notebook is None else None
    module = ModuleType(source.stem)
    module.__file__ = str(source)
    vars(module).update(given)
    # Registered by name, so that sources that import this one get the same objects.
    if source.stem not in sys.modules:
        sys.modules[source.stem] = module
    try:
        with _as_main(module):
            if code is not None:
                with suppress(NotebookExit):
                    exec(code, vars(module))  # noqa: S102  # running the user's file is what this is for
            elif notebook is not None:
                _included_notebooks.extend(declare_cells(notebook, source, vars(module), sql, root=root))
    except BaseException:
        if sys.modules.get(source.stem) is module:
            del sys.modules[source.stem]
        raise


@contextmanager
def _as_main(module: ModuleType) -> Iterator[None]:
    """Run `module` as `__main__`, as notebooks are; type hints look up their names there.

    Other modules import it by its own name.
    """
    before, module.__name__ = sys.modules["__main__"], "__main__"
    sys.modules["__main__"] = module
    try:
        yield
    finally:
        sys.modules["__main__"] = before


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
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
