"""SCD type 2 as pure functions of events and rows (spec §3.3, rules a–g).

The side table holds the events themselves. A batch touches the rows of its keys from the one that holds
the key's first new event on: nothing further to the left can change, since that row's start is a change
that no later event undoes. Where no row holds it, a delete stands before it, or nothing.

Events and rows lie side by side in lines, one for each key and sequence, so that one shuffle and one sort
do for all windows, where a join of what each step found would sort them anew. The columns of a line:

    __key, __k0, __k1 …   the key, and its parts
    __seq                 the sequence
    __delete, __row       the event, where `__is` is true
    __old                 the target's row that starts here (__end, __row), NULL without one
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec

    from lakeward.pipelines.cdc.touched import Touched

__all__ = ["comparable", "distinct", "events_to_revise", "revised", "rows_to_revise"]


def distinct(events: DataFrame) -> DataFrame:
    """Each event once, however often it came."""
    return events.dropDuplicates(["__key", "__seq", "__delete", "__tie"])


def rows_to_revise(rows: DataFrame, touched: Touched, *, partial: bool) -> DataFrame:
    """Of a target's rows (__key, __start, __end, __row) those that a batch may change."""
    # A column of a partial update may come from further to the left than any row's start.
    reaches = "true" if partial else "(__end IS NULL OR named_struct('__seq', __end) >= __from)"
    return touched.rows_of(rows, reaches)


def events_to_revise(events: DataFrame, rows: DataFrame, touched: Touched) -> DataFrame:
    """Of the events kept so far those from which `rows`, the ones to revise, and their successors come."""
    return touched.and_since(rows).rows_of(events, "named_struct('__seq', __seq) >= __from")


def revised(
    added: DataFrame, stored: DataFrame, current: DataFrame, tracked: tuple[str, ...], *, partial: bool
) -> DataFrame:
    """What must change in the target: __key, __start, __end, __row, __action.

    `added` are a batch's events, `current` the rows and `stored` the events kept so far that `rows_to_revise`
    and `events_to_revise` give.
    """
    lines = _single(_lines(added, stored, current))
    return _changes(_runs(_filled(lines) if partial else lines, tracked), current)


def _lines(added: DataFrame, stored: DataFrame, current: DataFrame) -> DataFrame:
    """A line for each event and each row, those of a key in one partition."""
    from pyspark.sql import functions as F

    events = stored.unionByName(added, allowMissingColumns=True)
    rows = current.select("__key", F.col("__start").alias("__seq"), F.struct("__end", "__row").alias("__old"))
    lines = events.withColumn("__is", F.lit(True)).unionByName(rows, allowMissingColumns=True)
    keys = current.schema["__key"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    lines = lines.withColumns({f"__k{n}": F.col("__key")[name] for n, name in enumerate(keys)})
    lines = lines.withColumn("__is", F.coalesce("__is", F.lit(False)))
    return lines.repartition(*_parts(lines))


def _single(lines: DataFrame) -> DataFrame:
    """One line a key and sequence. Of events with one sequence a delete wins (rule e)."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    here = Window.partitionBy(*_parts(lines), "__seq").orderBy(
        F.desc("__is"), F.desc("__delete"), F.desc("__tie")
    )
    everything = here.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    single = lines.withColumns(
        {
            "__nth": F.row_number().over(here),
            "__old": F.last("__old", ignorenulls=True).over(everything),
        }
    )
    return single.where("__nth = 1").drop("__nth", "__tie")


def _runs(lines: DataFrame, tracked: tuple[str, ...]) -> DataFrame:
    """Which events begin and end a row: `__starts`, `__last`, with `__begun` (__seq, __old) and `__next`.

    A row is a run of upserts whose tracked columns are equal: it starts with the first of them, has the
    values of the last, and ends with the next event. Lines without an event are passed over.
    """
    from pyspark.sql import functions as F

    is_event, upsert = F.col("__is"), F.col("__is") & ~F.coalesce("__delete", F.lit(False))
    now = F.when(is_event, F.struct("__delete", comparable(lines, tracked).alias("__values")))
    marked = lines.withColumn("__now", now).withColumn("__before", _beside("lag(__now)", lines))
    changed = F.col("__before").isNull() | F.col("__before.__delete")
    changed = changed | ~F.col("__now.__values").eqNullSafe(F.col("__before.__values"))
    marked = marked.withColumn("__starts", upsert & changed)
    mark = F.struct("__seq", (F.col("__delete") | F.col("__starts")).alias("__breaks"))
    marked = marked.withColumn("__mark", F.when(is_event, mark))
    begun = F.when(F.col("__starts"), F.struct("__seq", "__old"))
    runs = marked.withColumns(
        {
            "__next": _beside("lead(__mark)", marked),
            "__begun": F.last(begun, ignorenulls=True).over(_in_order(marked)),
        }
    )
    return runs.withColumn("__last", upsert & F.coalesce("__next.__breaks", F.lit(True)))


def _changes(runs: DataFrame, current: DataFrame) -> DataFrame:
    """The rows that runs amount to, and those of the target that are none any more."""
    from pyspark.sql import functions as F

    old, end = F.col("__begun.__old"), F.col("__next.__seq")
    unequal = ~end.eqNullSafe(old["__end"]) | ~_equal(runs, current)
    action = F.when(old.isNull(), "insert").when(unequal, "update").otherwise("none")
    types = {name: runs.schema[name].dataType for name in ("__seq", "__row")}
    row = F.struct(
        F.col("__begun.__seq").alias("__start"), end.alias("__end"), "__row", action.alias("__action")
    )
    nothing = F.struct(
        F.col("__seq").alias("__start"),
        F.lit(None).cast(types["__seq"]).alias("__end"),
        F.lit(None).cast(types["__row"]).alias("__row"),
        F.lit("delete").alias("__action"),
    )
    is_gone = F.col("__old").isNotNull() & ~F.col("__starts")
    both = F.array_compact(F.array(F.when(F.col("__last"), row), F.when(is_gone, nothing)))
    found = runs.where(F.col("__last") | is_gone).select("__key", F.explode(both).alias("__change"))
    return found.select("__key", "__change.*")


def _filled(lines: DataFrame) -> DataFrame:
    """Partial updates made whole: a column left out keeps its value since the last delete."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    gone = F.coalesce("__delete", F.lit(False))
    lives = lines.withColumn("__life", F.sum(gone.cast("int")).over(_in_order(lines)))
    in_life = Window.partitionBy(*_parts(lines), "__life").orderBy("__seq")
    upsert = F.col("__is") & ~gone
    names = lines.schema["__row"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    values = [
        F.last(F.when(upsert, F.col(f"__row.{quoted([name])}")), ignorenulls=True)
        .over(in_life)["v"]
        .alias(name)
        for name in names
    ]
    return lives.withColumn("__row", F.struct(*values)).drop("__life")


def _parts(lines: DataFrame) -> list[str]:
    return [name for name in lines.columns if name.startswith("__k") and name != "__key"]


def _in_order(lines: DataFrame) -> WindowSpec:
    from pyspark.sql import Window

    return Window.partitionBy(*_parts(lines)).orderBy("__seq")


def _beside(function: str, lines: DataFrame) -> Column:
    """The value of the next line before or behind that has one."""
    from pyspark.sql import functions as F

    return F.expr(f"{function} IGNORE NULLS OVER (PARTITION BY {', '.join(_parts(lines))} ORDER BY __seq)")


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


def _equal(runs: DataFrame, current: DataFrame) -> Column:
    """Whether the new values are the old ones; a column that the target does not have yet differs."""
    from pyspark.sql import functions as F

    names = runs.schema["__row"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    known = {name.lower() for name in current.schema["__row"].dataType.fieldNames()}  # type: ignore[attr-defined]
    if any(name.lower() not in known for name in names):
        return F.lit(False)
    columns = tuple(names)
    return comparable(runs, columns).eqNullSafe(comparable(runs, columns, "__begun.__old.__row"))
