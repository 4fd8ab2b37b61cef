"""COPY INTO: each file of a folder once into a Delta table (auto-loader.md §8).

Importing this room does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["install"]


def install(spark: SparkSession) -> None:  # noqa: ARG001  # as every room's `install` is called
    """Carry out COPY INTO in every session of this process from here on; cheap, and harmless when repeated.

    On Databricks it must not be called: the platform has its own.
    """
    from lakeward.sql import serve

    serve("copy_into", _copy)
    serve("function.copied", _copied)
    serve("copy_into.cloned", _cloned)
    serve("copy_into.trimmed", _trimmed)


def _copy(spark: SparkSession, **statement: Any) -> Any:
    from lakeward.copy_into.statement import carry_out

    return carry_out(spark, statement)


def _copied(spark: SparkSession, *, positional: list[str], named: dict[str, str]) -> Any:
    from lakeward.copy_into.loading import copied

    del spark, named
    return copied(positional[0])._jdf


def _cloned(spark: SparkSession, **clone: Any) -> Any:
    from lakeward.copy_into.cloning import cloned

    return cloned(spark, **clone)


def _trimmed(spark: SparkSession, **vacuum: Any) -> None:
    from lakeward.copy_into.trimming import trimmed

    trimmed(spark, **vacuum)
