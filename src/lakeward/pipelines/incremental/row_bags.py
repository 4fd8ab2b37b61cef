"""Bags of rows: frames in which equal rows count, and their difference.

Floats are compared by their text, in which -0.0 and 0.0 differ and all NaN are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakeward.pipelines.storage.key_ranges import DAY_NUMBERS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
COUNT = "n"
MAX_DAYS = 1_000
"""Bags that differ in more days are compared as a whole."""
# Not nested types: a hash passes over NULL inside of them.
_HASHED = (
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "decimal",
    "date",
    "timestamp",
    "string",
    "binary",
)


def with_texts(rows: DataFrame) -> DataFrame:
    """Return the rows with a column `t<name>` that identifies the values of each float column."""
    from pyspark.sql import functions as F

    return rows.select("*", *[F.col(name).cast("string").alias(f"t{name}") for name in _floats(rows)])


def identity_columns(rows: DataFrame) -> list[str]:
    """Return the columns of `with_texts(rows)` by which equal rows are found."""
    floats = _floats(rows)
    return [name for name in rows.columns if name not in floats] + [f"t{name}" for name in floats]


def signed_rows(plus: DataFrame, minus: DataFrame) -> DataFrame:
    """Return the rows of both frames `with_texts` and the column `n`: 1 in `plus`, -1 in `minus`."""
    from pyspark.sql import functions as F

    signs = ((plus, 1), (minus, -1))
    first, second = (with_texts(rows).withColumn(COUNT, F.lit(sign)) for rows, sign in signs)
    return first.unionAll(second)


def net_rows(plus: DataFrame, minus: DataFrame) -> DataFrame:
    """Return every different row once, with the column `n`: its copies in `plus` less those in `minus`.

    Both frames have the same columns. The result has those of `with_texts` and `n`, and no row with 0.
    """
    from pyspark.sql import functions as F

    values = [F.any_value(name).alias(name) for name in _floats(plus)]
    counted = (
        signed_rows(plus, minus).groupBy(*identity_columns(plus)).agg(F.sum(COUNT).alias(COUNT), *values)
    )
    return counted.where(f"{COUNT} <> 0")


def without_equal_days(plus: DataFrame, minus: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Remove the rows of days that are equal in both frames.

    A rewritten file often differs from the former one in a few days. Hashes of all rows of a day are
    compared, which takes a tenth of the time that the rows take. The frames are returned as they are if no
    column is a date or a time, if a type cannot be hashed, or if many days differ.
    """
    from pyspark.sql import functions as F

    day = next(
        (DAY_NUMBERS[kind].format(key=name) for name, kind in plus.dtypes if kind in DAY_NUMBERS), None
    )
    if day is None or not is_hashable(plus):
        return plus, minus
    sums = [f"s{number}" for number in range(4)]
    before, after = (_hashes_by_day(rows, day, sums) for rows in (minus, plus))
    same = [F.col(f"a.{name}").eqNullSafe(F.col(f"b.{name}")) for name in ("day", COUNT, *sums)]
    found = after.alias("a").join(before.alias("b"), same[0], "full")
    differ = ~same[1]
    for each in same[2:]:
        differ = differ | ~each
    rows = found.where(differ).select(F.coalesce("a.day", "b.day").alias("day")).limit(MAX_DAYS + 1).collect()
    if len(rows) > MAX_DAYS:
        return plus, minus
    number = F.expr(day)
    wanted = number.isin([row["day"] for row in rows if row["day"] is not None])
    if any(row["day"] is None for row in rows):
        wanted = wanted | number.isNull()
    return plus.where(wanted), minus.where(wanted)


def _hashes_by_day(rows: DataFrame, day: str, sums: Sequence[str]) -> DataFrame:
    """Return for each day the number of its rows, and sums of the halves of two hashes of 64 bits."""
    from pyspark.sql import functions as F

    halves = hash_halves(identity_columns(rows))
    totals = [F.sum(half).alias(name) for half, name in zip(halves, sums, strict=True)]
    return with_texts(rows).groupBy(F.expr(day).alias("day")).agg(F.count(F.lit(1)).alias(COUNT), *totals)


def hash_halves(names: Sequence[str]) -> list[Column]:
    """Return the halves of two hashes of 64 bits: sums of them do not overflow."""
    from pyspark.sql import functions as F

    # A hash passes over NULL: without the marks it would not tell in which column one is.
    values = [F.col(name) for name in names]
    marks = [F.isnull(each) for each in values]
    halves: list[Column] = []
    for seed in (1, 2):
        hashed = F.xxhash64(F.lit(seed), *values, *marks)
        halves += [hashed.bitwiseAND(0xFFFFFFFF), F.shiftrightunsigned(hashed, 32)]
    return halves


def is_hashable(rows: DataFrame) -> bool:
    """Return whether equal hashes of rows mean equal rows, for the types of all columns."""
    kinds = [kind for name, kind in with_texts(rows).dtypes if name in identity_columns(rows)]
    return all(kind.startswith(_HASHED) and "collate" not in kind for kind in kinds)


def _floats(rows: DataFrame) -> list[str]:
    return [name for name, kind in rows.dtypes if kind in ("float", "double")]
