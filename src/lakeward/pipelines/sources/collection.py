"""Executes the source files of a pipeline, and collects the graph that they declare.

Files are executed under their own paths and names."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims import display, displayHTML
from lakeward.dbutils import NotebookExit, dbutils, environment, use_environment
from lakeward.errors import PipelineError
from lakeward.notebooks import Notebook, has_sql_separators, parse, parse_export
from lakeward.pipelines.api.modules import API
from lakeward.pipelines.api.registry import GraphRegistry, register_into
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.pipelines.graph.error_location import with_source_location
from lakeward.pipelines.sources.notebook_source import declare_cells
from lakeward.pipelines.sources.user_modules import (
    add_included_notebooks,
    hide_earlier_imports,
    is_imported_by_source,
    working_in,
)
from lakeward.pipelines.sql.declarations import SqlFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def load_source(source: Path, given: Mapping[str, Any], *, root: Path | None) -> None:
    """Execute one source so that it declares its datasets: a notebook, SQL, or Python.

    The file keeps its path and line numbers (breakpoints and tracebacks work), and runs in its own folder.
    A file that another source has imported is not executed again: its datasets are declared. `given` are
    the globals of Python files (spark …). Errors of the file propagate.
    """
    content = source.read_bytes()
    if not _is_text(content, source.suffix):
        raise PipelineError(
            "PIPELINE_SOURCE_SYNTAX_ERROR", f"{source}: it is not UTF-8 text.", next_step="Save it as UTF-8."
        )
    try:
        notebook = parse(content, source.suffix)
    except ValueError as error:
        raise PipelineError("PIPELINE_SOURCE_SYNTAX_ERROR", f"{source}: {error}.") from None
    sql = SqlFile(given["spark"], API)
    with working_in(source.parent), use_environment(environment().in_notebook(source)):
        if source.suffix == ".sql":
            _declare_sql(notebook, content, source, sql)
        elif notebook is not None and notebook.language != "python":
            add_included_notebooks(declare_cells(notebook, source, dict(given), sql, root=root))
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
    add_included_notebooks(declare_cells(notebook, source, {}, sql))


def _import(
    source: Path,
    content: bytes,
    notebook: Notebook | None,
    given: Mapping[str, Any],
    sql: SqlFile,
    root: Path | None,
) -> None:
    if is_imported_by_source(source):
        return
    hide_earlier_imports(source)
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
                add_included_notebooks(declare_cells(notebook, source, vars(module), sql, root=root))
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
