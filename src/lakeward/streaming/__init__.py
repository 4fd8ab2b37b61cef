"""Structured Streaming as Databricks code writes it, where PySpark lacks it.

Importing this room does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.streaming.matrix import OPERATIONS, TRIGGERS
from lakeward.streaming.writing import as_markdown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OPERATIONS", "TRIGGERS", "as_markdown", "install", "patch"]


def install(spark: SparkSession) -> None:  # noqa: ARG001  # as every room's `install` is called
    """Change PySpark's stream readers and writers once a process; on Databricks it must not be called."""
    patch()


def patch() -> None:
    """`writeStream.table`, `readStream.table` of views, and a warning for `trigger(once=True)`."""
    from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

    from lakeward.session import patches
    from lakeward.streaming.hooks import reading, table, warning

    there = {(each.owner_name, each.attribute) for each in patches.installed()}
    for owner, name, change, why in (
        (DataStreamWriter, "table", table, "writeStream.table is toTable"),
        (DataStreamWriter, "trigger", warning, "trigger(once=True) is deprecated, and says so"),
        (DataStreamReader, "table", reading, "readStream.table reads views, too"),
    ):
        if (f"{owner.__module__}.{owner.__qualname__}", name) not in there:
            patches.replace(owner, name, change(vars(owner).get(name)), why=why)
