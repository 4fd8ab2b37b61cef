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
    """The `__key` of every row of a batch, and how many there are."""

    keys: DataFrame
    count: int

    @classmethod
    def of(cls, added: DataFrame) -> Touched:
        """Reads the whole batch, once."""
        return cls(added.select("__key"), added.count())

    def rows_of(self, table: DataFrame) -> DataFrame:
        """The rows of `table`, which has a column `__key`, with a key of the batch."""
        from pyspark.sql import functions as F

        keys = F.broadcast(self.keys) if self.count <= _BROADCAST else self.keys
        return table.join(keys, "__key", "left_semi")
