"""SCD type 1 as pure functions of events and state.

The state of a key is `__up`, the greatest sequence of an upsert, `__down`, that of a delete, and, with
partial updates, `__cells`: each column's value with its sequence. All of them are maxima, so merging states
is commutative, associative and idempotent. A row is present when `__up` is greater than `__down` and not
before the last truncate."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from lakeward.pipelines.autocdc.cdc_schema import column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def fold_events(events: DataFrame, *, partial: bool) -> DataFrame:
    """Fold events to the state they add, one row per key: __key, __up, __down and __row (or __cells)."""
    from pyspark.sql import functions as F

    upsert = ~F.col("__delete")
    order = F.when(upsert, F.struct("__seq", "__tie"))
    down = F.max(F.when(~upsert, F.struct("__seq"))).alias("__down")
    if not partial:
        row = F.max_by("__row", order).alias("__row")
        return events.groupBy("__key").agg(F.max(order).alias("__up"), down, row)
    cells = []
    for name in events.schema["__row"].dataType.fieldNames():  # type: ignore[attr-defined]  # it is a struct
        cell = column(name, of="__row")
        at = F.when(upsert & cell.isNotNull(), F.struct("__seq", "__tie"))
        value = F.when(at.isNotNull(), F.struct("__seq", "__tie", cell["v"].alias("v")))
        cells.append(F.max_by(value, at).alias(name))
    folded = events.groupBy("__key").agg(F.max(order).alias("__up"), down, *cells)
    return folded.select(
        "__key",
        "__up",
        "__down",
        F.struct(*[column(c) for c in folded.columns[3:]]).alias("__cells"),
    )


def merge_states(states: DataFrame, *, partial: bool) -> DataFrame:
    """Merge states to one per key: the maximum of every part."""
    from pyspark.sql import functions as F

    ups = (F.max("__up").alias("__up"), F.max("__down").alias("__down"))
    if not partial:
        return states.groupBy("__key").agg(*ups)
    names = states.schema["__cells"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    cells = []
    for name in names:
        cell = column(name, of="__cells")
        order = F.when(cell.isNotNull(), F.struct(cell["__seq"], cell["__tie"]))
        cells.append(F.max_by(cell, order).alias(name))
    folded = states.groupBy("__key").agg(*ups, *cells)
    return folded.select(
        "__key", "__up", "__down", F.struct(*[column(name) for name in names]).alias("__cells")
    )


def changed_keys(
    added: DataFrame, before: DataFrame, truncates: DataFrame | None, *, partial: bool
) -> DataFrame:
    """Return the change of each key of `added`, given the merged state `before` of these keys.

    The result has __key, __row, the new state, and __action: `insert`, `update`, `delete` or `none`.
    `truncates` has one row: `__truncate`, and `__truncate_before`, the one that applied so far.
    """
    from pyspark.sql import functions as F

    if partial:
        return _changed_partial_keys(added, before, truncates)
    old = before.select("__key", F.col("__up").alias("__up_before"), F.col("__down").alias("__down_before"))
    joined = _with_truncates(added.join(old, "__key", "left"), truncates)
    wins = _is_greater("__up", "__up_before")
    up = F.when(wins, F.col("__up")).otherwise(F.col("__up_before"))
    down = F.when(_is_greater("__down", "__down_before"), F.col("__down")).otherwise(F.col("__down_before"))
    judged = joined.withColumns({"__wins": wins, "__up": up, "__down": down})
    return _with_action(judged, differs=F.col("__wins"))


def _changed_partial_keys(added: DataFrame, before: DataFrame, truncates: DataFrame | None) -> DataFrame:
    from pyspark.sql import functions as F

    after = merge_states(added.unionByName(before, allowMissingColumns=True), partial=True)
    old = before.select(
        "__key",
        F.col("__up").alias("__up_before"),
        F.col("__down").alias("__down_before"),
        F.col("__cells").alias("__cells_before"),
    )
    joined = _with_truncates(after.join(old, "__key", "left"), truncates)
    judged = joined.withColumns(
        {
            "__row": _present_values(joined, "__cells", "__down", "__truncate"),
            "__row_before": _present_values(joined, "__cells_before", "__down_before", "__truncate_before"),
        }
    )
    return _with_action(judged, differs=F.to_json("__row") != F.to_json("__row_before"))


def _present_values(joined: DataFrame, cells: str, down: str, truncate: str) -> Column:
    """Return the values that no later delete or truncate removed."""
    from pyspark.sql import functions as F

    values = []
    for name in joined.schema["__cells"].dataType.fieldNames():  # type: ignore[attr-defined]  # a struct
        known = joined.schema[cells].dataType.fieldNames()  # type: ignore[attr-defined]  # a struct
        if name not in known:
            values.append(F.lit(None).alias(name))
            continue
        cell = column(name, of=cells)
        values.append(F.when(is_present(cell, F.col(down), F.col(truncate)), cell["v"]).alias(name))
    return F.struct(*values)


def truncated_keys(states: DataFrame, truncates: DataFrame) -> DataFrame:
    """Return the keys whose rows a new truncate removes: __key, __action. `states` are merged states."""
    from pyspark.sql import functions as F

    joined = _with_truncates(states, truncates)
    was = is_present(F.col("__up"), F.col("__down"), F.col("__truncate_before"))
    now = is_present(F.col("__up"), F.col("__down"), F.col("__truncate"))
    return joined.where(was & ~now).select("__key", F.lit("delete").alias("__action"))


def _with_truncates(frame: DataFrame, truncates: DataFrame | None) -> DataFrame:
    from pyspark.sql import functions as F

    if truncates is not None:
        return frame.crossJoin(F.broadcast(truncates))
    nothing = F.lit(None).cast(frame.schema["__down"].dataType)
    return frame.withColumns({"__truncate": nothing, "__truncate_before": nothing})


def _with_action(frame: DataFrame, *, differs: Column) -> DataFrame:
    from pyspark.sql import functions as F

    was = is_present(F.col("__up_before"), F.col("__down_before"), F.col("__truncate_before"))
    now = is_present(F.col("__up"), F.col("__down"), F.col("__truncate"))
    action = (
        F.when(~was & now, "insert").when(was & ~now, "delete").when(was & now & differs, "update")
    ).otherwise("none")
    return frame.withColumn("__action", action)


def is_present(up: Column, down: Column, truncate: Column | None = None) -> Column:
    """Return whether an upsert is current: after the last delete (which wins a tie) and truncate."""
    from pyspark.sql import functions as F

    at = F.struct(up["__seq"].alias("__seq"))
    standing = up.isNotNull() & (down.isNull() | (at > down))
    if truncate is not None:
        standing &= truncate.isNull() | (at >= truncate)
    return F.coalesce(standing, F.lit(False))


def _is_greater(new: str, old: str) -> Column:
    from pyspark.sql import functions as F

    a, b = F.col(new), F.col(old)
    return F.coalesce(a.isNotNull() & (b.isNull() | (a > b)), F.lit(False))


def latest_truncate(new: DataFrame, stored: DataFrame | None) -> DataFrame:
    """Return one row: `__truncate_before`, the last known truncate, and `__truncate`, the new maximum.

    `new` are the truncates of a batch, `stored` the rows of the auxiliary table.
    """
    from pyspark.sql import functions as F

    if stored is None or "__truncate" not in stored.columns:
        old = new.select(F.lit(None).cast(new.schema["__truncate"].dataType).alias("__truncate_before"))
    else:
        old = stored.agg(F.max("__truncate").alias("__truncate_before"))
    return old.crossJoin(new).select(
        "__truncate_before", F.greatest("__truncate_before", "__truncate").alias("__truncate")
    )


def truncate_record(truncates: DataFrame, at: datetime) -> DataFrame:
    """Return the row of the auxiliary table that records the last truncate, none without any."""
    from pyspark.sql import functions as F

    return truncates.where("__truncate IS NOT NULL").select("__truncate", F.lit(at).alias("__at"))
