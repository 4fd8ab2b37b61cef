"""SCD type 2 as pure functions of events and rows (spec §3.3, rules a–g).

The side table holds the events themselves. A batch touches the rows of its keys from the last row that
starts before the key's first new event on: nothing further to the left can change, since that row's start
is a change that no later event undoes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["comparable", "history", "revised"]


def history(events: DataFrame, tracked: tuple[str, ...], *, partial: bool) -> DataFrame:
    """The rows that events amount to: __key, __start, __end, __row.

    A row is a run of upserts whose tracked columns are equal: it starts with the first of them, has the
    values of the last, and ends with the next event. Of events with one sequence a delete wins (rule e).
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    single = events.groupBy("__key", F.struct("__seq").alias("__at")).agg(
        F.max_by(F.struct("__delete", "__row"), F.struct("__delete", "__tie")).alias("__event")
    )
    single = single.select("__key", "__at", "__event.__delete", "__event.__row")
    if partial:
        single = _filled(single)
    in_order = Window.partitionBy("__key").orderBy("__at")
    values = comparable(single, tracked)
    before, after_delete = F.lag(values).over(in_order), F.lag("__delete").over(in_order)
    starts = ~F.col("__delete") & (after_delete.isNull() | after_delete | ~values.eqNullSafe(before))
    marked = single.withColumn("__starts", starts)
    breaks = F.lead(F.col("__delete") | F.col("__starts")).over(in_order)
    runs = marked.withColumns(
        {
            "__last": ~F.col("__delete") & F.coalesce(breaks, F.lit(True)),
            "__start": F.last(F.when(F.col("__starts"), F.col("__at")), ignorenulls=True).over(in_order),
            "__end": F.lead("__at").over(in_order),
        }
    )
    return runs.where("__last").select(
        "__key", F.col("__start.__seq").alias("__start"), F.col("__end.__seq").alias("__end"), "__row"
    )


def revised(
    added: DataFrame, stored: DataFrame, current: DataFrame, tracked: tuple[str, ...], *, partial: bool
) -> DataFrame:
    """What must change in the target: __key, __start, __end, __row, __action.

    `added` are a batch's events, `stored` the events kept so far and `current` the target's rows (as
    `history` gives them), both at least for the keys of `added`.
    """
    from pyspark.sql import functions as F

    firsts = added.groupBy("__key").agg(F.min(F.struct("__seq")).alias("__first"))
    starts = current.withColumn("__from", F.struct(F.col("__start").alias("__seq")))
    lefts = starts.join(firsts, "__key").where(F.col("__from") < F.col("__first"))
    edges = firsts.join(lefts.groupBy("__key").agg(F.max("__from").alias("__edge")), "__key", "left")
    if partial:
        # A column may come from an event further to the left than any row's start.
        edges = edges.withColumn("__edge", F.lit(None).cast(edges.schema["__edge"].dataType))
    edges = edges.select("__key", "__edge")
    kept = stored.join(edges, "__key").where(
        F.col("__edge").isNull() | (F.struct("__seq") >= F.col("__edge"))
    )
    events = kept.drop("__edge").unionByName(added, allowMissingColumns=True)
    new = history(events, tracked, partial=partial).withColumn("__new", F.lit(True))
    old = starts.join(edges, "__key").where(F.col("__edge").isNull() | (F.col("__from") >= F.col("__edge")))
    old = old.select(
        F.col("__key").alias("__old_key"),
        F.col("__from").alias("__old_from"),
        F.col("__end").alias("__old_end"),
        F.col("__row").alias("__old_row"),
    )
    same = (F.col("__key") == F.col("__old_key")) & (
        F.struct(F.col("__start").alias("__seq")) == F.col("__old_from")
    )
    joined = new.join(old, same, "full_outer")
    unequal = ~F.col("__end").eqNullSafe(F.col("__old_end")) | ~_equal(new, current)
    action = (
        F.when(F.col("__new").isNull(), "delete")
        .when(F.col("__old_key").isNull(), "insert")
        .when(unequal, "update")
        .otherwise("none")
    )
    return joined.select(
        F.coalesce("__key", "__old_key").alias("__key"),
        F.when(F.col("__new"), F.col("__start")).otherwise(F.col("__old_from.__seq")).alias("__start"),
        "__end",
        "__row",
        action.alias("__action"),
    )


def _filled(single: DataFrame) -> DataFrame:
    """Partial updates made whole: a column left out keeps its value since the last delete."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    in_order = Window.partitionBy("__key").orderBy("__at")
    lives = single.withColumn("__life", F.sum(F.col("__delete").cast("int")).over(in_order))
    in_life = Window.partitionBy("__key", "__life").orderBy("__at")
    upsert = ~F.col("__delete")
    names = single.schema["__row"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    values = [
        F.last(F.when(upsert, F.col(f"__row.{quoted([name])}")), ignorenulls=True)
        .over(in_life)["v"]
        .alias(name)
        for name in names
    ]
    return lives.select("__key", "__at", "__delete", F.struct(*values).alias("__row"))


def comparable(frame: DataFrame, names: tuple[str, ...], row: str = "__row") -> Column:
    """The values `names` of the struct `row` as one that can be compared; `frame` has them in `__row`."""
    from pyspark.sql import functions as F

    if not names:
        return F.lit(0)
    types = {field.name: field.dataType.simpleString() for field in frame.schema["__row"].dataType}  # type: ignore[attr-defined]
    whole = F.struct(*[F.col(f"{row}.{quoted([name])}") for name in names])
    if any(word in types[name] for name in names for word in ("map<", "variant")):
        return F.to_json(whole, {"ignoreNullFields": "false"})
    return whole


def _equal(new: DataFrame, current: DataFrame) -> Column:
    """Whether the new values are the old ones; a column that the target does not have yet differs."""
    from pyspark.sql import functions as F

    names = new.schema["__row"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    known = {name.lower() for name in current.schema["__row"].dataType.fieldNames()}  # type: ignore[attr-defined]
    if any(name.lower() not in known for name in names):
        return F.lit(False)
    columns = tuple(names)
    return comparable(new, columns).eqNullSafe(comparable(new, columns, "__old_row"))
