"""The keys of a batch, and the rows with these keys in larger tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name, quote_string

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
# Broadcasting keys is cheap; shuffling the auxiliary table, which has every key, is not.
_MAX_BROADCAST_KEYS = 500_000
# Types whose values survive a cast to text and back.
_ORDERED = ("tinyint", "smallint", "int", "bigint", "decimal", "date", "string")


@dataclass(frozen=True)
class AffectedKeys:
    """Each `__key` of a batch, where needed with `__from`, the struct of its lowest sequence.

    `count` is an upper bound of their number.
    """

    keys: DataFrame
    count: int

    @classmethod
    def of(cls, added: DataFrame) -> AffectedKeys:
        """Collect the keys of a batch; reads it once."""
        return cls(added.select("__key"), added.count())

    @classmethod
    def since(cls, events: DataFrame) -> AffectedKeys:
        """Collect the keys with the lowest sequence `__seq` of each."""
        return cls(_lowest_sequences(_sequences(events, "__seq")), events.count())

    def and_since(self, rows: DataFrame) -> AffectedKeys:
        """Lower the sequences to the starts `__start` of `rows`."""
        return AffectedKeys(
            _lowest_sequences(self.keys.union(_sequences(rows, "__start"))), self.count + rows.count()
        )

    def rows_of(self, table: DataFrame, reaches: str = "true") -> DataFrame:
        """Return the rows of `table` whose `__key` is affected.

        `reaches` is a further condition, which may refer to `__from`.
        """
        from pyspark.sql import functions as F

        keys = self.keys.withColumnRenamed("__key", "__touched")
        keys = F.broadcast(keys) if self.count <= _MAX_BROADCAST_KEYS else keys
        return table.join(keys, F.expr(f"__key = __touched AND {reaches}"), "left_semi")


class KeyRanges:
    """The least and the greatest value of each key of a batch, where Delta keeps statistics of the type."""

    def __init__(self, changes: DataFrame) -> None:
        self._types = {
            name: kind
            for name, kind in changes.select("__key.*").dtypes
            if kind.startswith(_ORDERED) and "collate" not in kind
        }

    @property
    def aggregates(self) -> list[Column]:
        """The columns of an aggregation of the batch whose values `condition` takes."""
        from pyspark.sql import functions as F

        keys = [F.col(f"__key.{quote_name([name])}") for name in self._types]
        return [end(key).cast("string") for key in keys for end in (F.min, F.max)]

    def condition(self, ends: Sequence[str]) -> str:
        """Return the condition that a row `t` with one of the keys meets, empty if nothing is known."""
        pairs = zip(self._types.items(), ends[::2], ends[1::2], strict=True)
        return " AND ".join(
            f"t.{quote_name([name])} BETWEEN CAST({quote_string(low)} AS {kind}) "
            f"AND CAST({quote_string(high)} AS {kind})"
            for (name, kind), low, high in pairs
        )


def _sequences(frame: DataFrame, sequence: str) -> DataFrame:
    from pyspark.sql import functions as F

    return frame.select("__key", F.struct(F.col(sequence).alias("__seq")).alias("__from"))


def _lowest_sequences(marks: DataFrame) -> DataFrame:
    # One row per key: otherwise a key with a long history is compared with each of its events.
    return marks.groupBy("__key").agg({"__from": "min"}).toDF("__key", "__from")
