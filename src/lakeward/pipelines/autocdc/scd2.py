"""SCD type 2 as pure functions of events and rows.

The auxiliary table holds the events themselves. A batch affects the rows of its keys from the row that
contains the key's first new event onwards: earlier rows cannot change, because the start of that row is a
change that no later event undoes. If no row contains it, it follows a delete or has no predecessor.

Where the changes of every column are tracked, all events of a row have its values. The row then represents
its events before the batch, and only stored events that are not older than the batch are read.

Events and rows are combined into lines, one per key and sequence, so that one shuffle and one sort serve
all windows; a join of the results of each step would sort them again. The columns of a line:

    __key, __k0, __k1 …   the key, and its parts
    __seq                 the sequence
    __delete, __row       the event, where `__is` is true
    __old                 the target's row that starts here (__end, __row), NULL without one"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.nested_types import cast_by_name
from lakeward.pipelines.autocdc.cdc_schema import column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec

    from lakeward.pipelines.autocdc.affected_keys import AffectedKeys


def distinct_events(events: DataFrame) -> DataFrame:
    """Return each event once."""
    identity = ["__key", "__seq", "__delete", "__tie", "__sys"]
    return events.dropDuplicates([name for name in identity if name in events.columns])


def rows_to_revise(rows: DataFrame, touched: AffectedKeys, *, partial: bool) -> DataFrame:
    """Return the target's rows (__key, __start, __end, __row) that a batch may change, with `__from`."""
    # A value of a partial update may be older than the start of any row.
    reaches = "true" if partial else "(__end IS NULL OR named_struct('__seq', __end) >= __from)"
    return touched.rows_of(rows, reaches, how="inner")


def events_to_revise(
    events: DataFrame, rows: DataFrame, touched: AffectedKeys, *, has_whole_history: bool
) -> DataFrame:
    """Return the stored events that the batch may follow, and their successors.

    With the whole history in the target a row that starts before the batch represents its events. Otherwise
    the events since the starts of `rows`, the rows to revise, are needed.
    """
    if has_whole_history:
        return touched.events_since(events)
    return touched.and_since(rows).rows_of(events, "named_struct('__seq', __seq) >= __from")


def revise_history(
    added: DataFrame,
    stored: DataFrame,
    current: DataFrame,
    tracked: tuple[str, ...],
    *,
    partial: bool,
    has_whole_history: bool,
) -> DataFrame:
    """Return the changes of the target: __key, __start, __end, __row, __action.

    Args:
        added: The events of a batch.
        stored: Earlier events, from `events_to_revise`.
        current: Rows of the target, from `rows_to_revise`.
        tracked: Columns whose changes start a new row.
        partial: Whether updates may be partial.
        has_whole_history: As in `events_to_revise`.
    """
    lines = _one_line_per_sequence(_event_lines(added, stored, current, has_whole_history))
    return _row_changes(_mark_runs(_fill_partial_updates(lines) if partial else lines, tracked), current)


def _event_lines(
    added: DataFrame, stored: DataFrame, current: DataFrame, has_whole_history: bool
) -> DataFrame:
    """Return a line for each event and each row, those of a key in one partition."""
    from pyspark.sql import functions as F

    events = stored.unionByName(added, allowMissingColumns=True)
    rows = current.select(
        "__key",
        F.col("__start").alias("__seq"),
        F.struct("__end", "__row").alias("__old"),
        *(_rows_as_events(events, current) if has_whole_history else ()),
    )
    lines = events.withColumn("__is", F.lit(True)).unionByName(rows, allowMissingColumns=True)
    keys = current.schema["__key"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    lines = lines.withColumns({f"__k{n}": F.col("__key")[name] for n, name in enumerate(keys)})
    lines = lines.withColumn("__is", F.coalesce("__is", F.lit(False)))
    return lines.repartition(*_key_columns(lines))


def _rows_as_events(events: DataFrame, current: DataFrame) -> list[Column]:
    """Return the columns of an event for rows that start before the batch: upserts of their values."""
    from pyspark.sql import functions as F

    is_event = F.expr("named_struct('__seq', __start) < __from")
    row = cast_by_name(F.col("__row"), current.schema["__row"].dataType, events.schema["__row"].dataType)
    return [
        is_event.alias("__is"),
        F.when(is_event, F.lit(False)).alias("__delete"),
        F.when(is_event, row).alias("__row"),
    ]


def _one_line_per_sequence(lines: DataFrame) -> DataFrame:
    """Keep one line per key and sequence. Of events with the same sequence a delete wins."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    here = Window.partitionBy(*_key_columns(lines), "__seq").orderBy(
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


def _mark_runs(lines: DataFrame, tracked: tuple[str, ...]) -> DataFrame:
    """Mark the events that start and end a row: `__starts`, `__last`, `__begun` (__seq, __old), `__next`.

    A row is a run of upserts with equal tracked columns: it starts with the first, has the values of the
    last and ends with the next event. Lines without an event are ignored.
    """
    from pyspark.sql import functions as F

    is_event, upsert = F.col("__is"), F.col("__is") & ~F.coalesce("__delete", F.lit(False))
    now = F.when(is_event, F.struct("__delete", comparable_values(lines, tracked).alias("__values")))
    marked = lines.withColumn("__now", now).withColumn("__before", _adjacent_value("lag(__now)", lines))
    changed = F.col("__before").isNull() | F.col("__before.__delete")
    changed = changed | ~F.col("__now.__values").eqNullSafe(F.col("__before.__values"))
    marked = marked.withColumn("__starts", upsert & changed)
    mark = F.struct("__seq", (F.col("__delete") | F.col("__starts")).alias("__breaks"))
    marked = marked.withColumn("__mark", F.when(is_event, mark))
    begun = F.when(F.col("__starts"), F.struct("__seq", "__old"))
    runs = marked.withColumns(
        {
            "__next": _adjacent_value("lead(__mark)", marked),
            "__begun": F.last(begun, ignorenulls=True).over(_by_sequence(marked)),
        }
    )
    return runs.withColumn("__last", upsert & F.coalesce("__next.__breaks", F.lit(True)))


def _row_changes(runs: DataFrame, current: DataFrame) -> DataFrame:
    """Return the rows of all runs, and deletions of rows that no longer exist."""
    from pyspark.sql import functions as F

    old, end = F.col("__begun.__old"), F.col("__next.__seq")
    unequal = ~end.eqNullSafe(old["__end"]) | ~equal_rows(runs, current, "__row", "__begun.__old.__row")
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


def _fill_partial_updates(lines: DataFrame) -> DataFrame:
    """Complete partial updates: a missing column keeps its value since the last delete."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    gone = F.coalesce("__delete", F.lit(False))
    lives = lines.withColumn("__life", F.sum(gone.cast("int")).over(_by_sequence(lines)))
    in_life = Window.partitionBy(*_key_columns(lines), "__life").orderBy("__seq")
    upsert = F.col("__is") & ~gone
    names = lines.schema["__row"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    values = [
        F.last(F.when(upsert, column(name, of="__row")), ignorenulls=True).over(in_life)["v"].alias(name)
        for name in names
    ]
    return lives.withColumn("__row", F.struct(*values)).drop("__life")


def _key_columns(lines: DataFrame) -> list[str]:
    return [name for name in lines.columns if name.startswith("__k") and name != "__key"]


def _by_sequence(lines: DataFrame) -> WindowSpec:
    from pyspark.sql import Window

    return Window.partitionBy(*_key_columns(lines)).orderBy("__seq")


def _adjacent_value(function: str, lines: DataFrame) -> Column:
    """Return the value of the nearest preceding or following line that has one."""
    from pyspark.sql import functions as F

    return F.expr(
        f"{function} IGNORE NULLS OVER (PARTITION BY {', '.join(_key_columns(lines))} ORDER BY __seq)"
    )


def comparable_values(frame: DataFrame, names: tuple[str, ...], row: str = "__row") -> Column:
    """Return the values `names` of the struct `row` as a comparable value; `frame` has them in `__row`."""
    from pyspark.sql import functions as F

    if not names:
        return F.lit(0)
    types = {field.name: field.dataType.simpleString() for field in frame.schema["__row"].dataType}  # type: ignore[attr-defined]
    whole = F.struct(*[column(name, of=row) for name in names])
    if any(word in types[name] for name in names for word in ("map<", "variant")):
        return F.to_json(whole, {"ignoreNullFields": "false"})
    return whole


def equal_rows(runs: DataFrame, current: DataFrame, new: str, old: str) -> Column:
    """Return whether the values `new` equal `old`; a column that the target lacks differs.

    `runs` and `current` have the types of the structs `new` and `old` in `__row`.
    """
    from pyspark.sql import functions as F

    names = runs.schema["__row"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
    known = {name.lower() for name in current.schema["__row"].dataType.fieldNames()}  # type: ignore[attr-defined]
    if any(name.lower() not in known for name in names):
        return F.lit(False)
    columns = tuple(names)
    return comparable_values(runs, columns, new).eqNullSafe(comparable_values(runs, columns, old))
