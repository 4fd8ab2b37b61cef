"""Declarative pipelines: files for `pyspark.pipelines` or `dlt` run as they are, on the classic session.

    files ── collect ──> graph ── resolve (phase 1, empty tables) ──> plan ── execute (phase 2) ──> tables

Importing this room starts nothing and does not import pyspark.
"""

from lakeward.pipelines.in_sql import as_markdown as sources_as_markdown
from lakeward.pipelines.live import follow as follow_events
from lakeward.pipelines.model import DatasetResult, ExpectationResult, Progress, Update
from lakeward.pipelines.modules import fill_dlt, serve_tests, stop_serving_tests
from lakeward.pipelines.parameters import FUNCTIONS, MODULES, Function, Parameter, function
from lakeward.pipelines.sources import SUFFIXES
from lakeward.pipelines.update import run

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
    "fill_dlt",
    "follow_events",
    "function",
    "run",
    "serve_tests",
    "sources_as_markdown",
    "stop_serving_tests",
]
