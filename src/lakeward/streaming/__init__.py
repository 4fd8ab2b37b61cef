"""Structured Streaming as Databricks code writes it, where PySpark lacks it.

Importing the package does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.streaming.live_queries import (
    ACTIONS,
    current_query,
    observing_starts,
    query_file,
    read_queries,
    request_file,
    watching,
)
from lakeward.streaming.query_errors import unreceived_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def install(spark: SparkSession) -> None:  # noqa: ARG001  # the signature of all `install` functions
    """Patch PySpark's stream readers and writers, once per process. Must not be called on Databricks."""
    from lakeward.streaming.table_functions import register_table_functions

    register_table_functions()
    patch()


def patch() -> None:
    """Add `writeStream.table`, `readStream.table` of views, and a warning for `trigger(once=True)`."""
    from lakeward import patching
    from lakeward.streaming.stream_patches import PATCHES

    patching.install(PATCHES)
