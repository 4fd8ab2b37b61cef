"""The rows of a side table, fewer of them, that say the same."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from lakeward.pipelines.cdc import scd1, scd2
from lakeward.pipelines.cdc.change import Change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["tidied"]


def tidied(rows: DataFrame, change: Change, since: datetime) -> DataFrame:
    """One row a key, without the keys that were deleted and then not spoken of `since` (type 1); each event
    once (type 2)."""
    from pyspark.sql import functions as F

    if change.scd_type == 2:
        # Repeats were never told apart from what other batches had kept.
        return scd2.distinct(rows)
    of_keys = rows.where("__key IS NOT NULL")
    last = of_keys.groupBy("__key").agg(F.max("__at").alias("__at"))
    folded = scd1.united(of_keys, partial=change.partial).join(last, "__key")
    stands = scd1.stands(F.col("__up"), F.col("__down"))
    kept = folded.where(stands | (F.col("__at") >= F.lit(since)))
    if "__truncate" in rows.columns:
        kept = kept.unionByName(rows.where("__key IS NULL"), allowMissingColumns=True)
    return kept
