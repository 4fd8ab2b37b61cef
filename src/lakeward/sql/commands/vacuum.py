"""VACUUM: Delta's own, and then what COPY INTO keeps beside the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.sql.commands.delta import by_delta

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["vacuum"]


def vacuum(spark: SparkSession, *, table: list[str], hours: float | None, dry_run: bool, text: str) -> Any:
    """What Delta's VACUUM gives. Raises what that raises."""
    from lakeward.sql.commands import carry_out

    rows = by_delta(spark, text)
    if not dry_run:
        carry_out(spark, "copy_into.trimmed", {"table": table, "hours": hours})
    return rows
