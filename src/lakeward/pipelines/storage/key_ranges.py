"""Ranges of keys, by which Delta skips the files that cannot contain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.storage.delta_tables import load_table, read_stored_rows
from lakeward.quoting import quote_name, quote_string

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
# Types of which Delta keeps ordered statistics. Values are texts; a TIMESTAMP is the text of its microseconds
# since 1970, because its local time may mean two instants.
_ORDERED = ("tinyint", "smallint", "int", "bigint", "decimal", "date", "timestamp", "string")


@dataclass(frozen=True)
class KeyRange:
    """The least and the greatest value of a key as text, and whether NULL is among its values.

    `position` is that of the key among all keys, `kind` its type.
    """

    position: int
    kind: str
    low: str
    high: str
    has_null: bool

    def condition(self, column: str) -> str:
        """Return the condition that a row meets whose `column`, an SQL expression, is one of the keys."""
        # Not BETWEEN, which Spark rewrites later than Delta looks for files.
        between = f"({column} >= {self._value(self.low)} AND {column} <= {self._value(self.high)})"
        return f"({between} OR {column} IS NULL)" if self.has_null else between

    def since(self, column: str) -> str:
        """Return the condition that a value is not less than all of the keys."""
        return f"{column} >= {self._value(self.low)}"

    def _value(self, text: str) -> str:
        if self.kind == "timestamp":
            return f"timestamp_micros({text})"
        return f"CAST({quote_string(text)} AS {self.kind})"


class KeyRanges:
    """Computes the range of each key whose type Delta keeps ordered statistics of.

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
            )
        ]

    def ranges(self, values: Sequence[Any]) -> list[KeyRange]:
        """Return the ranges of the keys that have values other than NULL."""
        ends = zip(self._keys, values[::3], values[1::3], values[2::3], strict=True)
        return [
            KeyRange(position, kind, low, high, nulls > 0)
            for (position, _, kind), low, high, nulls in ends
            if low is not None
        ]


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
