"""Bitemporal tables as pure functions of events and rows.

At every system time, the rows known then are the SCD type 2 history of the events known then. The table
of a key therefore consists of its histories, one per system sequence; equal rows of successive histories
are one row. `__SYSTEM_START_AT` is the first system sequence whose history has the row, `__SYSTEM_END_AT`
the next one whose history does not. An event corrects those with the same sequence that were known before.

The rows of the keys in a batch are computed from all events of these keys and compared with the target's
rows: batches may arrive in any order and any number of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.autocdc.cdc_schema import column
from lakeward.pipelines.autocdc.scd2 import comparable_values, equal_rows, revise_history

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
_KNOWN = "__known_at"


def revise_bitemporal_history(
    events: DataFrame, current: DataFrame, tracked: tuple[str, ...], *, partial: bool
) -> DataFrame:
    """Return what must change in the target: __key, __start, __end, __sys_start, __sys_end, __row, __action.

    Args:
        events: all events of the keys to revise, with their system sequence `__sys`.
        current: the target's rows of these keys, as `Target.rows` has them.
        tracked: the columns whose changes begin a row.
        partial: whether the cells of events are optional.
    """
    return _compare(_intervals(_histories(events, current, tracked, partial=partial), events), current)


def _histories(
    events: DataFrame, current: DataFrame, tracked: tuple[str, ...], *, partial: bool
) -> DataFrame:
    """Return the history at each system sequence of each key: __key, __known, __start, __end, __row."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    names = _key_names(events)
    times = events.select(F.col("__key").alias("__of"), F.struct("__sys").alias("__known")).distinct()
    known = events.join(times, F.expr("__key = __of AND named_struct('__sys', __sys) <= __known")).drop(
        "__of"
    )
    # The key of a history is the key and the system time.
    known = known.withColumn("__key", _key_at(names, F.col("__known.__sys")))
    last = Window.partitionBy("__key", F.struct("__seq")).orderBy(F.struct("__sys").desc())
    known = (
        known.withColumn("__nth", F.rank().over(last)).where("__nth = 1").drop("__nth", "__sys", "__known")
    )
    type_ = events.schema["__sys"].dataType
    none = current.limit(0).select(
        _key_at(names, F.lit(None).cast(type_)).alias("__key"), "__start", "__end", "__row"
    )
    found = revise_history(known, known.limit(0), none, tracked, partial=partial, has_whole_history=False)
    key = F.struct(*[column(name, of="__key").alias(name) for name in names])
    return found.select(
        key.alias("__key"),
        F.struct(F.col(f"__key.{_KNOWN}").alias("__sys")).alias("__known"),
        *("__start", "__end", "__row"),
    )


def _intervals(histories: DataFrame, events: DataFrame) -> DataFrame:
    """Return each row once for every run of successive histories that have it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by_time = Window.partitionBy("__key").orderBy("__known")
    times = events.select("__key", F.struct("__sys").alias("__known")).distinct()
    times = times.select(
        F.struct("__key", "__known").alias("__at"),
        F.row_number().over(by_time).alias("__number"),
        F.lead("__known").over(by_time).alias("__after"),
    )
    placed = histories.withColumn("__at", F.struct("__key", "__known")).join(times, "__at")
    names = tuple(histories.schema["__row"].dataType.fieldNames())  # type: ignore[attr-defined]  # a struct
    same = F.struct(
        F.col("__key"),
        F.col("__start"),
        F.col("__end"),
        comparable_values(histories, names).alias("__values"),
    )
    placed = placed.withColumn("__same", same)
    in_row = Window.partitionBy("__same").orderBy("__number")
    run = F.col("__number") - F.row_number().over(in_row)
    grouped = placed.withColumn("__run", run).groupBy("__same", "__run")
    found = grouped.agg(
        F.min("__known").alias("__first"),
        F.max_by("__after", "__number").alias("__last"),
        F.first("__row").alias("__row"),
    )
    return found.select(
        *(F.col(f"__same.{name}").alias(name) for name in ("__key", "__start", "__end")),
        F.col("__first.__sys").alias("__sys_start"),
        F.col("__last.__sys").alias("__sys_end"),
        "__row",
    )


def _compare(wanted: DataFrame, current: DataFrame) -> DataFrame:
    """Compare the required rows with the existing ones.

    Two rows of a key that become known at the same time have different starts.
    """
    from pyspark.sql import functions as F

    identity = F.struct("__key", "__start", "__sys_start")
    new = wanted.select(identity.alias("__id"), F.struct("__end", "__sys_end", "__row").alias("__new"))
    old = current.select(identity.alias("__id"), F.struct("__end", "__sys_end", "__row").alias("__old"))
    joined = new.join(old, "__id", "full")
    action = (
        F.when(F.col("__old").isNull(), "insert")
        .when(F.col("__new").isNull(), "delete")
        .when(_equal(wanted, current), "none")
        .otherwise("update")
    )
    return joined.select("__id.*", "__new.__end", "__new.__sys_end", "__new.__row", action.alias("__action"))


def _equal(wanted: DataFrame, current: DataFrame) -> Column:
    from pyspark.sql import functions as F

    new, old = F.col("__new"), F.col("__old")
    equal = new["__end"].eqNullSafe(old["__end"]) & new["__sys_end"].eqNullSafe(old["__sys_end"])
    return equal & equal_rows(wanted, current, "__new.__row", "__old.__row")


def _key_names(events: DataFrame) -> list[str]:
    return list(events.schema["__key"].dataType.fieldNames())  # type: ignore[attr-defined]  # it is a struct


def _key_at(names: list[str], known: Column) -> Column:
    from pyspark.sql import functions as F

    fields = [column(name, of="__key").alias(name) for name in names]
    return F.struct(*fields, known.alias(_KNOWN))
