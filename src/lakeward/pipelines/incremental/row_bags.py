"""Bags of rows: frames in which equal rows count, and their difference.

Floats are compared by their text, in which -0.0 and 0.0 differ and all NaN are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
COUNT = "n"


def with_texts(rows: DataFrame) -> DataFrame:
    """Return the rows with a column `t<name>` that identifies the values of each float column."""
    from pyspark.sql import functions as F

    return rows.select("*", *[F.col(name).cast("string").alias(f"t{name}") for name in _floats(rows)])


def identity_columns(rows: DataFrame) -> list[str]:
    """Return the columns of `with_texts(rows)` by which equal rows are found."""
    floats = _floats(rows)
    return [name for name in rows.columns if name not in floats] + [f"t{name}" for name in floats]


def net_rows(plus: DataFrame, minus: DataFrame) -> DataFrame:
    """Return every different row once, with the column `n`: its copies in `plus` less those in `minus`.

    Both frames have the same columns. The result has those of `with_texts` and `n`, and no row with 0.
    """
    from pyspark.sql import functions as F

    signed = (
        with_texts(plus).withColumn(COUNT, F.lit(1)).unionAll(with_texts(minus).withColumn(COUNT, F.lit(-1)))
    )
    values = [F.any_value(name).alias(name) for name in _floats(plus)]
    counted = signed.groupBy(*identity_columns(plus)).agg(F.sum(COUNT).alias(COUNT), *values)
    return counted.where(f"{COUNT} <> 0")


def repeat_rows(counted: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return the columns `names` of every row with a positive `n`, as many times as it says."""
    from pyspark.sql import functions as F

    copies = F.expr(f"explode(sequence(1L, {COUNT}))").alias("copy")
    return counted.where(f"{COUNT} > 0").select(*names, copies).select(*names)


def _floats(rows: DataFrame) -> list[str]:
    return [name for name, kind in rows.dtypes if kind in ("float", "double")]
