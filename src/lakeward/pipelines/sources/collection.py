"""Finds the source files of a pipeline and collects the graph that they declare."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims import display, displayHTML
from lakeward.dbutils import dbutils
from lakeward.errors import ConfigurationError, PipelineError
from lakeward.pipelines.api.registry import GraphRegistry, register_into
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.pipelines.graph.error_location import with_source_location
from lakeward.pipelines.sources.python_source import load_source

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
            raise ConfigurationError("PIPELINE_SOURCE_NOT_FOUND", f"There is no pipeline source at {path}.")
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
    file_globals: Mapping[str, Callable[[SparkSession], Any]] = FILE_GLOBALS,
) -> CollectedGraph:
    """Execute `sources` in order, inside `serve_modules()`.

    A file that fails is one error with its line; the others are still executed.
    """
    registry = GraphRegistry(default_schema)
    given = {name: make(spark) for name, make in file_globals.items()}
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
    if not graph.datasets and not errors and not mistakes:
        files = ", ".join(str(source) for source in sources)
        mistakes.append(
            PipelineError(
                "RUN_EMPTY_PIPELINE",
                f"The files declare no dataset: {files}.",
                next_step="Decorate a function with @dp.table or @dp.materialized_view.",
            )
        )
    return CollectedGraph(graph, (*errors, *mistakes))


def common_root(sources: Sequence[Path]) -> Path:
    """Return the folder that contains all sources."""
    return Path(os.path.commonpath([source.parent for source in sources]))
