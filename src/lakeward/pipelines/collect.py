"""Reads a pipeline's files and gives the graph that they declare."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.dbutils import dbutils
from lakeward.errors import PipelineError
from lakeward.pipelines.blame import blame
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.loading import load
from lakeward.pipelines.names import Home
from lakeward.pipelines.registry import Registry, collecting
from lakeward.standins import display, displayHTML

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FILE_GLOBALS", "Collected", "collect", "common_root"]

# Names that every file finds as globals, made for the session of the run.
FILE_GLOBALS: dict[str, Callable[[SparkSession], Any]] = {
    "spark": lambda spark: spark,
    "dbutils": lambda _: dbutils(),
    "display": lambda _: display,
    "displayHTML": lambda _: displayHTML,
}


@dataclass(frozen=True)
class Collected:
    """The graph of the files that could be read, and every mistake met on the way."""

    graph: Graph
    errors: tuple[PipelineError, ...]


def collect(
    spark: SparkSession,
    sources: Sequence[Path],
    home: Home,
    *,
    folders: tuple[Path, ...],
    file_globals: Mapping[str, Callable[[SparkSession], Any]] = FILE_GLOBALS,
) -> Collected:
    """Execute `sources` in order, each on its own; `modules.serving` must be in force.

    A file that cannot be read, or raises, is one error naming its line; the others are still read.
    """
    registry = Registry(home)
    given = {name: make(spark) for name, make in file_globals.items()}
    errors = []
    with collecting(registry):
        for source in sources:
            try:
                load(source, given, root=folders[0] if folders else None)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a user's file may raise anything
                errors.append(blame(error, what=str(source), folders=folders))
        try:
            graph, mistakes = registry.finish()
        except Exception as error:  # noqa: BLE001  # as above
            return Collected(Graph(home, ()), (*errors, blame(error, what="the pipeline", folders=folders)))
    if not graph.datasets and not errors and not mistakes:
        files = ", ".join(str(source) for source in sources)
        mistakes.append(
            PipelineError(
                "RUN_EMPTY_PIPELINE",
                f"The files declare no dataset: {files}.",
                next_step="Decorate a function with @dp.table or @dp.materialized_view.",
            )
        )
    return Collected(graph, (*errors, *mistakes))


def common_root(sources: Sequence[Path]) -> Path:
    """The folder that all sources are in."""
    return Path(os.path.commonpath([source.parent for source in sources]))
