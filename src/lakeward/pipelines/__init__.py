"""Declarative pipelines: files for `pyspark.pipelines` or `dlt` run unchanged, on the classic session.

    files ── collect ──> graph ── analyze (phase 1, empty tables) ──> plan ── execute (phase 2) ──> tables

Start reading at `execution.pipeline_execution`. The sub-packages are layers: execution, writers, events,
analysis, sources, sql, api, autocdc, storage, graph; each imports only those after it. Importing the package
starts nothing and does not import pyspark.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.pipelines.api.modules import fill_dlt, serve_tests, stop_serving_tests
    from lakeward.pipelines.api.parameters import (
        FUNCTIONS,
        MODULES,
        TEST_MODULE,
        Function,
        Parameter,
        function,
    )
    from lakeward.pipelines.events.event_log import tail_events
    from lakeward.pipelines.execution.pipeline_execution import run
    from lakeward.pipelines.execution.update_context import OWN_SETTINGS, UpdateOptions
    from lakeward.pipelines.graph.expectations import ExpectationResult
    from lakeward.pipelines.graph.results import DatasetResult, Progress, Update
    from lakeward.pipelines.sources.source_files import SUFFIXES
    from lakeward.sql import Command

__getattr__ = lazy_exports(__name__, __file__)


def install(spark: SparkSession) -> None:  # noqa: ARG001  # the signature of all `install` functions
    """Register the statements on standalone tables, and `cloud_files_state` of tables. Cheap and idempotent.

    Databricks has its own; do not call this there.
    """
    from lakeward.autoloader import register_flow_checkpoints
    from lakeward.sql import (
        AlterSchedule,
        CreateStandaloneTable,
        DropMaterializedView,
        ExplainMaterializedView,
        RefreshStandaloneTable,
        register_handler,
    )

    commands: tuple[type[Command], ...] = (
        *(AlterSchedule, CreateStandaloneTable, DropMaterializedView),
        *(ExplainMaterializedView, RefreshStandaloneTable),
    )
    for command in commands:
        register_handler(command, _run)
    register_flow_checkpoints(_flow_checkpoints)


def _flow_checkpoints(spark: SparkSession, table: str) -> dict[str, Path]:
    """Return the checkpoints of the flows that fill a table; none for one that no pipeline manages."""
    from lakeward.pipelines.storage.checkpoints import Checkpoints
    from lakeward.spark_internals import split_identifier
    from lakeward.sql import current_context, managing_pipeline, pipeline_storage

    pipeline = managing_pipeline(spark, table)
    storage = pipeline_storage(pipeline) if pipeline else None
    if storage is None:
        return {}
    dataset = current_context(spark).qualify(split_identifier(spark, table))
    return Checkpoints(storage).of_flows(dataset)


def _run(spark: SparkSession, command: Any) -> Any:
    """Run a statement. What it needs is imported with the first one."""
    from lakeward.pipelines.execution.standalone import HANDLERS

    return HANDLERS[type(command)](spark, command)
