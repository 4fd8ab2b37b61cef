"""The keys of a batch, and the rows with these keys in larger tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakeward.pipelines.storage.computed_rows import aggregate_rows
from lakeward.pipelines.storage.key_ranges import (
    MAX_BROADCAST_KEYS,
    KeyRange,
    KeyRanges,
    range_condition,
    target_condition,
)
from lakeward.quoting import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
# Broadcasting keys is cheap; shuffling the auxiliary table, which has every key, is not.


@dataclass(frozen=True)
class AffectedKeys:
    """Each `__key` of a batch, where needed with `__from`, the struct of its lowest sequence.

    Attributes:
        keys: The keys.
        names: The names of their parts.
        count: An upper bound of their number.
        deletes: Number of the folded events of a batch that delete; 0 for events that are not folded.
        has_null: Whether a part of a key is NULL.
        ranges: The ranges of the parts of the key.
        sequences: The range of the sequences `__seq`; None if it is unknown.
    """

    keys: DataFrame
    names: tuple[str, ...]
    count: int
    deletes: int
    has_null: bool
    ranges: tuple[KeyRange, ...]
    sequences: KeyRange | None = None

    @classmethod
    def of(cls, added: DataFrame) -> AffectedKeys:
        """Collect the keys of a batch; reads it once."""
        from pyspark.sql import functions as F

        types = added.select("__key.*").dtypes
        parts = [(f"__key.{quote_name([name])}", kind) for name, kind in types]
        sequences = [("__seq", kind) for name, kind in added.dtypes if name == "__seq"]
        known = KeyRanges([*parts, *sequences])
        null = F.expr(" OR ".join(f"{part} IS NULL" for part, _ in parts))
        deletes = F.count("__down") if "__down" in added.columns else F.lit(0)
        row = aggregate_rows(added, F.count(F.lit(1)), deletes, F.count_if(null), *known.aggregates)
        count, deleted, nulls, *ends = row
        names, ranges = tuple(name for name, _ in types), known.ranges(ends)
        of_keys = tuple(each for each in ranges if each.position < len(names))
        sequence = next((each for each in ranges if each.position == len(names)), None)
        return cls(added.select("__key"), names, count, deleted, nulls > 0, of_keys, sequence)

    @classmethod
    def since(cls, events: DataFrame) -> AffectedKeys:
        """Collect the keys with the lowest sequence `__seq` of each."""
        return replace(cls.of(events), keys=_lowest_sequences(_sequences(events, "__seq")))

    def and_since(self, rows: DataFrame) -> AffectedKeys:
        """Lower the sequences to the starts `__start` of `rows`, which have the same keys."""
        return replace(self, keys=_lowest_sequences(self.keys.union(_sequences(rows, "__start"))))

    def target_condition(self, target: tuple[str, ...]) -> str:
        """Return the condition that rows `t` of the target with the keys meet; "" if it skips no file."""
        return target_condition(self.keys.sparkSession, target, self.ranges, self.names)

    def rows_of(self, table: DataFrame, reaches: str = "true", *, how: str = "left_semi") -> DataFrame:
        """Return the rows of `table` whose `__key` is affected.

        Args:
            table: The table.
            reaches: A further condition, which may refer to `__from`.
            how: `inner` adds the column `__from`.
        """
        from pyspark.sql import functions as F

        condition = range_condition(self.ranges, [f"__key.{quote_name([name])}" for name in self.names])
        table = table.where(condition) if condition else table
        keys = self.keys.withColumnRenamed("__key", "__touched")
        keys = F.broadcast(keys) if self.count <= MAX_BROADCAST_KEYS else keys
        return table.join(keys, F.expr(f"__key = __touched AND {reaches}"), how).drop("__touched")

    def events_since(self, events: DataFrame) -> DataFrame:
        """Return the events of the affected keys from `__from` on; Delta skips files of older ones."""
        if self.sequences is not None and not self.sequences.has_null:
            events = events.where(self.sequences.since("__seq"))
        return self.rows_of(events, "named_struct('__seq', __seq) >= __from")


def _sequences(frame: DataFrame, sequence: str) -> DataFrame:
    from pyspark.sql import functions as F

    return frame.select("__key", F.struct(F.col(sequence).alias("__seq")).alias("__from"))


def _lowest_sequences(marks: DataFrame) -> DataFrame:
    # One row per key: otherwise a key with a long history is compared with each of its events.
    return marks.groupBy("__key").agg({"__from": "min"}).toDF("__key", "__from")
