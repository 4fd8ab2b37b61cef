"""COPY INTO: loads each file of a directory once into a Delta table (AL-8).

Importing this package does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import java_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.sql import CopyInto, CopyLoadHistory, TrimLoadHistory

__all__ = ["install"]


def install(spark: SparkSession) -> None:  # noqa: ARG001  # the signature of all `install`
    """Register COPY INTO with SQL sessions of this process. Cheap and idempotent.

    Databricks has its own COPY INTO; do not call this there.
    """
    from lakeward.sql import CopyInto, CopyLoadHistory, TrimLoadHistory, register_function, register_handler

    register_handler(CopyInto, _copy)
    register_handler(CopyLoadHistory, _cloned)
    register_handler(TrimLoadHistory, _trimmed)
    register_function("copied", _copied)


def _copy(spark: SparkSession, command: CopyInto) -> Any:
    from lakeward.copy_into.statement import execute_copy_into

    return execute_copy_into(spark, command)


def _copied(spark: SparkSession, *, positional: list[str], named: dict[str, str]) -> Any:
    from lakeward.copy_into.source_files import staged_rows

    del spark, named
    return java_frame(staged_rows(positional[0]))


def _cloned(spark: SparkSession, command: CopyLoadHistory) -> Any:
    from lakeward.copy_into.history_upkeep import clone_history

    source = command.source
    return clone_history(
        spark,
        source=source.table,
        target=command.target,
        version=source.version.number,
        timestamp=source.version.timestamp,
    )


def _trimmed(spark: SparkSession, command: TrimLoadHistory) -> None:
    from lakeward.copy_into.history_upkeep import vacuum_history

    vacuum_history(spark, table=command.table, hours=command.hours)
