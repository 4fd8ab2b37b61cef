"""Declarative pipelines: files for `pyspark.pipelines` or `dlt` run unchanged, on the classic session.

    files ── collect ──> graph ── analyze (phase 1, empty tables) ──> plan ── execute (phase 2) ──> tables

Start reading at `execution.pipeline_execution`. The sub-packages are layers: execution, writers, events,
analysis, sources, sql, api, autocdc, storage, graph; each imports only those after it. Importing the package
starts nothing and does not import pyspark.
"""

from __future__ import annotations

from lakeward.pipelines.api.modules import fill_dlt, serve_tests, stop_serving_tests
from lakeward.pipelines.api.parameters import FUNCTIONS, MODULES, Function, Parameter, function
from lakeward.pipelines.events.event_log import tail_events
from lakeward.pipelines.execution.update import run
from lakeward.pipelines.execution.update_context import UpdateOptions
from lakeward.pipelines.graph.expectations import ExpectationResult
from lakeward.pipelines.graph.results import DatasetResult, Progress, Update
from lakeward.pipelines.sources.collection import SUFFIXES

__all__ = [
    "FUNCTIONS",
    "MODULES",
    "SUFFIXES",
    "DatasetResult",
    "ExpectationResult",
    "Function",
    "Parameter",
    "Progress",
    "Update",
    "UpdateOptions",
    "fill_dlt",
    "function",
    "run",
    "serve_tests",
    "stop_serving_tests",
    "tail_events",
]
