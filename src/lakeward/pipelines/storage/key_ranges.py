"""Ranges of keys, by which Delta skips the files that cannot contain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.storage.computed_rows import aggregate_rows
from lakeward.pipelines.storage.delta_tables import load_table, read_stored_rows
from lakeward.quoting import quote_name, quote_string

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
# Types of which Delta keeps ordered statistics. Values are texts; a TIMESTAMP is the text of its microseconds
# since 1970, because its local time may mean two instants.
_ORDERED = ("tinyint", "smallint", "int", "bigint", "decimal", "date", "timestamp", "string")


DAY_NUMBERS = {
    "date": "unix_date({key})",
    "timestamp": "CAST((unix_micros({key}) - pmod(unix_micros({key}), 86400000000)) div 86400000000 AS INT)",
    "timestamp_ntz": "unix_date(CAST({key} AS DATE))",
}
"""SQL of the number of a key's day since 1970, by type; of one time it is the same in every time zone."""
MAX_BROADCAST_KEYS = 500_000
"""The number of keys up to which a join with them broadcasts them."""
_DAY_MICROS = 86_400_000_000
# A clock that is years off is in an interval of its own.
_MAX_INTERVALS = 16


@dataclass(frozen=True)
class KeyRange:
    """Intervals in which the values of a key lie, and whether NULL is among its values.

    Attributes:
        position: Position of the key among all keys.
        kind: Its type.
        intervals: The least and the greatest value of each interval as text, in ascending order.
        has_null: Whether NULL is among the values.
    """

    position: int
    kind: str
    intervals: tuple[tuple[str, str], ...]
    has_null: bool

    def condition(self, column: str) -> str:
        """Return the condition that a row meets whose `column`, an SQL expression, is one of the keys."""
        # Not BETWEEN, which Spark rewrites later than Delta looks for files.
        among = [
            f"({column} >= {self._value(low)} AND {column} <= {self._value(high)})"
            for low, high in self.intervals
        ]
        if self.has_null:
            among.append(f"{column} IS NULL")
        return among[0] if len(among) == 1 else f"({' OR '.join(among)})"

    def since(self, column: str) -> str:
        """Return the condition that a value is not less than all of the keys."""
        return f"{column} >= {self._value(self.intervals[0][0])}"

    def _value(self, text: str) -> str:
        if self.kind == "timestamp":
            return f"timestamp_micros({text})"
        return f"CAST({quote_string(text)} AS {self.kind})"


class KeyRanges:
    """Computes the range of each key whose type Delta keeps ordered statistics of; of times one per days.

    `keys` are pairs of an SQL expression and the type of its values.
    """

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        self._keys = [
            (position, expression, kind)
            for position, (expression, kind) in enumerate(keys)
            if kind.startswith(_ORDERED) and not kind.startswith("interval") and "collate" not in kind
        ]

    @property
    def aggregates(self) -> list[Column]:
        """Return the columns of an aggregation of the keys whose values `ranges` takes."""
        from pyspark.sql import functions as F

        return [
            each
            for _, key, kind in self._keys
            for each in (
                F.expr(_text(f"min({key})", kind)),
                F.expr(_text(f"max({key})", kind)),
                F.expr(f"count_if({key} IS NULL)"),
                F.expr(f"array_sort(collect_set({DAY_NUMBERS[kind].format(key=key)}))")
                if kind in DAY_NUMBERS
                else F.lit(None),
            )
        ]

    def of(self, rows: DataFrame) -> tuple[int, list[KeyRange]]:
        """Return the number of rows, and the ranges of the keys, which are expressions on these rows."""
        from pyspark.sql import functions as F

        count, *ends = aggregate_rows(rows, F.count(F.lit(1)), *self.aggregates)
        return count, self.ranges(ends)

    def ranges(self, values: Sequence[Any]) -> list[KeyRange]:
        """Return the ranges of the keys that have values other than NULL."""
        found = zip(self._keys, values[::4], values[1::4], values[2::4], values[3::4], strict=True)
        return [
            KeyRange(position, kind, _intervals(kind, low, high, days or ()), nulls > 0)
            for (position, _, kind), low, high, nulls, days in found
            if low is not None
        ]


def _intervals(kind: str, low: str, high: str, days: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """Return the intervals from `low` to `high` that contain all days; the smallest gaps are closed."""
    gaps = [at for at in range(1, len(days)) if days[at] > days[at - 1] + 1]
    gaps = sorted(sorted(gaps, key=lambda at: days[at - 1] - days[at])[: _MAX_INTERVALS - 1])
    try:
        ends = [_last_moment(kind, days[at - 1]) for at in gaps]
        starts = [_first_moment(kind, days[at]) for at in gaps]
    except (ValueError, OverflowError):
        # Python's calendar ends with the year 9999.
        return ((low, high),)
    return tuple(zip([low, *starts], [*ends, high], strict=True))


def _first_moment(kind: str, day: int) -> str:
    if kind == "timestamp":
        return str(day * _DAY_MICROS)
    return str(date(1970, 1, 1) + timedelta(days=day)) + ("" if kind == "date" else " 00:00:00")


def _last_moment(kind: str, day: int) -> str:
    if kind == "timestamp":
        return str((day + 1) * _DAY_MICROS - 1)
    return str(date(1970, 1, 1) + timedelta(days=day)) + ("" if kind == "date" else " 23:59:59.999999")


def _text(value: str, kind: str) -> str:
    return f"CAST({f'unix_micros({value})' if kind == 'timestamp' else value} AS STRING)"


def target_condition(
    spark: SparkSession, key: tuple[str, ...], ranges: Sequence[KeyRange], columns: Sequence[str]
) -> str:
    """Return the condition that rows `t` of a table with the keys meet, by which Delta skips its files.

    Delta's log keeps the text of a MERGE's condition. A range of a column without statistics skips no file,
    and would keep values in the log that the table's owner has excluded from it.

    Args:
        spark: The session.
        key: Name of the table.
        ranges: The ranges of the keys.
        columns: Names of the table's columns that contain the keys, by position.
    """
    stored = load_table(spark, key) if ranges else None
    if stored is None:
        return ""
    known = stored.skipping_columns
    skipping = [each for each in ranges if columns[each.position].lower() in known]
    return range_condition(skipping, [f"t.{quote_name([column])}" for column in columns])


def range_condition(ranges: Sequence[KeyRange], columns: Sequence[str]) -> str:
    """Return the condition that rows with the keys meet, empty if nothing is known.

    Args:
        ranges: The ranges of the keys.
        columns: SQL expressions of the columns that contain the keys, by position.
    """
    return " AND ".join(each.condition(columns[each.position]) for each in ranges)


def has_files(spark: SparkSession, key: tuple[str, ...], condition: str) -> bool:
    """Return whether any file of a table `t` may have rows that meet a condition, by its statistics."""
    return bool(read_stored_rows(spark, key).alias("t").where(condition).inputFiles())
