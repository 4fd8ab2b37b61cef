"""Tables as statements name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["quoted", "require_table"]


def quoted(name: Sequence[str]) -> str:
    """A name as SQL takes it, whatever is in it."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in name)


def require_table(spark: SparkSession, *, table: list[str]) -> dict[str, Any]:
    """Nothing for a table or view that exists; raises Spark's own error otherwise."""
    spark.table(quoted(table))
    return {}
