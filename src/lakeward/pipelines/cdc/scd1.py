"""SCD type 1 as pure functions of events and state (spec §3.2).

The state of a key is `__up`, the greatest sequence of an upsert, `__down`, that of a delete, and, where
updates may be partial, `__cells`, each column's value with the sequence that it came with. All of them
are maxima: states are united in any order and any number of times. A row is there when `__up` is greater
than `__down` and not before the last truncate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["changed_keys", "contribution", "stands", "truncated_keys", "united"]


def contribution(events: DataFrame, *, partial: bool) -> DataFrame:
    """What events add to the state, one row a key: __key, __up, __down and __row (or __cells)."""
    from pyspark.sql import functions as F

    upsert = ~F.col("__delete")
    order = F.when(upsert, F.struct("__seq", "__tie"))
    down = F.max(F.when(~upsert, F.struct("__seq"))).alias("__down")
    if not partial:
        row = F.max_by("__row", order).alias("__row")
        return events.groupBy("__key").agg(F.max(order).alias("__up"), down, row)
    cells = []
    for name in events.schema["__row"].dataType.fieldNames():  # type: ignore[attr-defined]  # it is a struct
        cell = F.col(f"__row.{quoted([name])}")
        at = F.when(upsert & cell.isNotNull(), F.struct("__seq", "__tie"))
        value = F.when(at.isNotNull(), F.struct("__seq", "__tie", cell["v"].alias("v")))
        cells.append(F.max_by(value, at).alias(name))
    folded = events.groupBy("__key").agg(F.max(order).alias("__up"), down, *cells)
    return folded.select(
        "__key",
        "__up",
        "__down",
        F.struct(*[F.col(quoted([c])) for c in folded.columns[3:]]).alias("__cells"),
    )


def united(states: DataFrame, *, partial: bool) -> DataFrame:
    """One state a key: the greatest of everything."""
    from pyspark.sql import functions as F

    ups = (F.max("__up").alias("__up"), F.max("__down").alias("__down"))
    if not partial:
        return states.groupBy("__key").agg(*ups)
    names = states.schema["__cells"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    cells = []
    for name in names:
        cell = F.col(f"__cells.{quoted([name])}")
        order = F.when(cell.isNotNull(), F.struct(cell["__seq"], cell["__tie"]))
        cells.append(F.max_by(cell, order).alias(name))
    folded = states.groupBy("__key").agg(*ups, *cells)
    return folded.select(
        "__key", "__up", "__down", F.struct(*[F.col(quoted([name])) for name in names]).alias("__cells")
    )


def changed_keys(
    added: DataFrame, before: DataFrame, truncates: DataFrame | None, *, partial: bool
) -> DataFrame:
    """What becomes of each key of `added` (a contribution), `before` being the united state of those keys.

    Gives __key, __row, the new state, and __action: `insert`, `update`, `delete`, or `none`. `truncates`
    has one row: `__truncate`, and `__truncate_before`, which held until now.
    """
    from pyspark.sql import functions as F

    if partial:
        return _partial(added, before, truncates)
    old = before.select("__key", F.col("__up").alias("__up_before"), F.col("__down").alias("__down_before"))
    joined = _with_truncates(added.join(old, "__key", "left"), truncates)
    wins = _greater("__up", "__up_before")
    up = F.when(wins, F.col("__up")).otherwise(F.col("__up_before"))
    down = F.when(_greater("__down", "__down_before"), F.col("__down")).otherwise(F.col("__down_before"))
    judged = joined.withColumns({"__wins": wins, "__up": up, "__down": down})
    return _judged(judged, differs=F.col("__wins"))


def _partial(added: DataFrame, before: DataFrame, truncates: DataFrame | None) -> DataFrame:
    from pyspark.sql import functions as F

    after = united(added.unionByName(before, allowMissingColumns=True), partial=True)
    old = before.select(
        "__key",
        F.col("__up").alias("__up_before"),
        F.col("__down").alias("__down_before"),
        F.col("__cells").alias("__cells_before"),
    )
    joined = _with_truncates(after.join(old, "__key", "left"), truncates)
    judged = joined.withColumns(
        {
            "__row": _row(joined, "__cells", "__down", "__truncate"),
            "__row_before": _row(joined, "__cells_before", "__down_before", "__truncate_before"),
        }
    )
    return _judged(judged, differs=F.to_json("__row") != F.to_json("__row_before"))


def _row(joined: DataFrame, cells: str, down: str, truncate: str) -> Column:
    """The values that no later delete or truncate took away."""
    from pyspark.sql import functions as F

    values = []
    for name in joined.schema["__cells"].dataType.fieldNames():  # type: ignore[attr-defined]  # a struct
        known = joined.schema[cells].dataType.fieldNames()  # type: ignore[attr-defined]  # a struct
        if name not in known:
            values.append(F.lit(None).alias(name))
            continue
        cell = F.col(f"{cells}.{quoted([name])}")
        values.append(F.when(stands(cell, F.col(down), F.col(truncate)), cell["v"]).alias(name))
    return F.struct(*values)


def truncated_keys(states: DataFrame, truncates: DataFrame) -> DataFrame:
    """The keys whose rows a new truncate removes: __key, __action. `states` are all united states."""
    from pyspark.sql import functions as F

    joined = _with_truncates(states, truncates)
    was = stands(F.col("__up"), F.col("__down"), F.col("__truncate_before"))
    now = stands(F.col("__up"), F.col("__down"), F.col("__truncate"))
    return joined.where(was & ~now).select("__key", F.lit("delete").alias("__action"))


def _with_truncates(frame: DataFrame, truncates: DataFrame | None) -> DataFrame:
    from pyspark.sql import functions as F

    if truncates is not None:
        return frame.crossJoin(F.broadcast(truncates))
    nothing = F.lit(None).cast(frame.schema["__down"].dataType)
    return frame.withColumns({"__truncate": nothing, "__truncate_before": nothing})


def _judged(frame: DataFrame, *, differs: Column) -> DataFrame:
    from pyspark.sql import functions as F

    was = stands(F.col("__up_before"), F.col("__down_before"), F.col("__truncate_before"))
    now = stands(F.col("__up"), F.col("__down"), F.col("__truncate"))
    action = (
        F.when(~was & now, "insert").when(was & ~now, "delete").when(was & now & differs, "update")
    ).otherwise("none")
    return frame.withColumn("__action", action)


def stands(up: Column, down: Column, truncate: Column | None = None) -> Column:
    """Whether an upsert stands: after the last delete (which wins a tie), not before the last truncate."""
    from pyspark.sql import functions as F

    at = F.struct(up["__seq"].alias("__seq"))
    standing = up.isNotNull() & (down.isNull() | (at > down))
    if truncate is not None:
        standing &= truncate.isNull() | (at >= truncate)
    return F.coalesce(standing, F.lit(False))


def _greater(new: str, old: str) -> Column:
    from pyspark.sql import functions as F

    a, b = F.col(new), F.col(old)
    return F.coalesce(a.isNotNull() & (b.isNull() | (a > b)), F.lit(False))
