"""Truncates of a feed: the greatest sequence of one, which holds for every key (spec §3.2)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["as_kept", "with_former"]


def with_former(new: DataFrame, stored: DataFrame | None) -> DataFrame:
    """One row: `__truncate_before`, the last truncate that the side table knows, and `__truncate`, the last
    one with that of `new`, the truncates of a batch."""
    from pyspark.sql import functions as F

    if stored is None or "__truncate" not in stored.columns:
        old = new.select(F.lit(None).cast(new.schema["__truncate"].dataType).alias("__truncate_before"))
    else:
        old = stored.agg(F.max("__truncate").alias("__truncate_before"))
    return old.crossJoin(new).select(
        "__truncate_before", F.greatest("__truncate_before", "__truncate").alias("__truncate")
    )


def as_kept(truncates: DataFrame, at: datetime) -> DataFrame:
    """The row of the side table that remembers the last truncate, none without any."""
    from pyspark.sql import functions as F

    return truncates.where("__truncate IS NOT NULL").select("__truncate", F.lit(at).alias("__at"))
