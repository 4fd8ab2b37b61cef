"""The keys that a batch speaks of, and their rows in tables that know many more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Touched"]

# Keys are small; a shuffle of the side table, which has every key there ever was, is not.
_BROADCAST = 500_000


@dataclass(frozen=True)
class Touched:
    """Each `__key` of a batch, with `__from`, the struct of its lowest sequence, where that matters, and how
    many they are at most."""

    keys: DataFrame
    count: int

    @classmethod
    def of(cls, added: DataFrame) -> Touched:
        """Reads the whole batch, once."""
        return cls(added.select("__key"), added.count())

    @classmethod
    def since(cls, events: DataFrame) -> Touched:
        """The same with the lowest sequence `__seq` of each key."""
        return cls(_lowest(_marks(events, "__seq")), events.count())

    def and_since(self, rows: DataFrame) -> Touched:
        """The same with the starts `__start` of `rows` among the sequences."""
        return Touched(_lowest(self.keys.union(_marks(rows, "__start"))), self.count + rows.count())

    def rows_of(self, table: DataFrame, reaches: str = "true") -> DataFrame:
        """The rows of `table`, which has a column `__key`, with a key of the batch.

        `reaches` is a further condition, which may speak of `__from`.
        """
        from pyspark.sql import functions as F

        keys = self.keys.withColumnRenamed("__key", "__touched")
        keys = F.broadcast(keys) if self.count <= _BROADCAST else keys
        return table.join(keys, F.expr(f"__key = __touched AND {reaches}"), "left_semi")


def _marks(frame: DataFrame, sequence: str) -> DataFrame:
    from pyspark.sql import functions as F

    return frame.select("__key", F.struct(F.col(sequence).alias("__seq")).alias("__from"))


def _lowest(marks: DataFrame) -> DataFrame:
    # One row a key, or a key with a long history would be compared with each of its events.
    return marks.groupBy("__key").agg({"__from": "min"}).toDF("__key", "__from")
