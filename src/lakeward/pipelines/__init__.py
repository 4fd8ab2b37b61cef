"""Declarative pipelines: files for `pyspark.pipelines` or `dlt` run as they are, on the classic session.

    files ── collect ──> graph ── resolve (phase 1, empty tables) ──> plan ── execute (phase 2) ──> tables

Importing this room starts nothing and does not import pyspark.
"""

from lakeward.pipelines.model import DatasetResult, ExpectationResult, Progress, Update
from lakeward.pipelines.parameters import FUNCTIONS, Function, Parameter, function
from lakeward.pipelines.update import run

__all__ = [
    "FUNCTIONS",
    "DatasetResult",
    "ExpectationResult",
    "Function",
    "Parameter",
    "Progress",
    "Update",
    "function",
    "run",
]
