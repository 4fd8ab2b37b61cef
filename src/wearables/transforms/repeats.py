"""One of many: records that were sent or delivered again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from wearables.transforms.validity import holds

__all__ = ["first_of"]


def first_of(
    records: DataFrame, *, key: Sequence[str], order: Sequence[str], rules: Mapping[str, str]
) -> DataFrame:
    """Keep, of the valid records with the same `key`, the first by `order`; `repeats` counts the others.

    NULL equals NULL in a key. Validity comes first: an invalid record is never the one that stays. Invalid
    records all remain, each on its own, for an expectation with the same `rules` to count and drop. Records
    that tie in `order` are taken by their other columns, so that the result never depends on chance.
    """
    others = [name for name in records.columns if name not in {*key, *order}]
    same = Window.partitionBy("_valid", *key)
    return (
        records.withColumn("_valid", holds(rules))
        .withColumns(
            {
                "_copy": F.row_number().over(same.orderBy(*order, *others)),
                "repeats": F.count(F.lit(1)).over(same) - 1,
            }
        )
        .filter(~F.col("_valid") | (F.col("_copy") == 1))
        .withColumn("repeats", F.when(F.col("_valid"), F.col("repeats")).otherwise(F.lit(0)))
        .drop("_valid", "_copy")
    )
