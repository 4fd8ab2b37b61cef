"""Runs a pipeline: one update, and a second one after new columns were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.pipelines.execution.pipeline_execution import PipelineExecution
from lakeward.pipelines.execution.update_context import (
    PipelineUpdateContext,
    UpdateOptions,
    trigger_interval,
)
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.pipelines.graph.results import Update
from lakeward.pipelines.sources.collection import common_root, find_sources
from lakeward.session import dbfs_paths

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings


@dbfs_paths()
def run(
    paths: Sequence[Path],
    options: UpdateOptions | None = None,
    *,
    session: SparkSession | None = None,
    settings: Settings | None = None,
) -> Update:
    """Run one update of the pipeline that the files at `paths` declare.

    An update that finds new columns in its input files is started a second time, once. Errors in user files,
    failed flows and a concurrent update of the same pipeline result in an Update with the state FAILED;
    Ctrl-C in one with the state CANCELED.

    Args:
        paths: Source files, folders or globs.
        options: Options of the update.
        session: The Spark session; default: the session of `settings`.
        settings: Lakehouse settings; default: those of the running session, or of the project at `root`.

    Returns:
        The result of the update and of each dataset.

    Raises:
        ConfigurationError: Invalid paths, dataset names or combinations of options.
    """
    context = _context(paths, options or UpdateOptions(), session, settings)
    if context.options.continuous:
        trigger_interval(context.conf)
    return run_update(context)


def run_update(context: PipelineUpdateContext) -> Update:
    """Run one update, and a second one after new columns were found. Paths follow the rule in force."""
    execution = PipelineExecution(context)
    update = execution.run()
    if not execution.restarts:
        return update
    second = PipelineExecution(context.after_schema_change()).run()
    return replace(second, seconds=update.seconds + second.seconds)


def _context(
    paths: Sequence[Path],
    options: UpdateOptions,
    session: SparkSession | None,
    settings: Settings | None,
) -> PipelineUpdateContext:
    from lakeward.session import Settings, current_settings
    from lakeward.session import session as make_session

    sources = find_sources([Path(path) for path in paths])
    settings = settings or current_settings() or Settings.here(options.root)
    return PipelineUpdateContext(
        spark=session or make_session(settings),
        sources=tuple(sources),
        default_schema=DefaultSchema(options.catalog or settings.catalog, options.schema or settings.schema),
        root=(options.root or common_root(sources)).absolute(),
        storage=options.storage or settings.pipelines / options.name,
        user=settings.user,
        conf={str(key): str(value) for key, value in (options.configuration or {}).items()},
        options=options,
    )
