"""The keys of a batch, and the rows with these keys in larger tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
# Broadcasting keys is cheap; shuffling the auxiliary table, which has every key, is not.
_MAX_BROADCAST_KEYS = 500_000


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


def _sequences(frame: DataFrame, sequence: str) -> DataFrame:
    from pyspark.sql import functions as F

    return frame.select("__key", F.struct(F.col(sequence).alias("__seq")).alias("__from"))


def _lowest_sequences(marks: DataFrame) -> DataFrame:
    # One row per key: otherwise a key with a long history is compared with each of its events.
    return marks.groupBy("__key").agg({"__from": "min"}).toDF("__key", "__from")
