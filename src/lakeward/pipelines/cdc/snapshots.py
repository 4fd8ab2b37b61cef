"""Snapshots as a change feed: what differs from the last one, as events with the version for a sequence.

    <folder>/<n>/data/           the rows of the n-th snapshot
    <folder>/<n>/snapshot.json   its version and schema
    <folder>/<n>/applied         its changes are in the target

A snapshot is kept before its changes are applied. After a kill in between, the same two snapshots give the
same events with the same version again, which the target has already or takes now.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.cdc.scd2 import comparable
from lakeward.pipelines.cdc.versions import from_json, literal, refused, to_json
from lakeward.pipelines.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = [
    "GONE",
    "VERSION",
    "Snapshot",
    "Snapshots",
    "aligned",
    "as_feed",
    "difference",
    "require_unique",
]

VERSION, GONE = "__lakeward_version", "__lakeward_gone"


@dataclass(frozen=True)
class Snapshot:
    """One snapshot as it is kept in `folder`."""

    folder: Path
    version: Any
    schema: StructType

    @property
    def number(self) -> int:
        return int(self.folder.name)

    @property
    def is_applied(self) -> bool:
        return (self.folder / "applied").exists()

    def rows(self, spark: SparkSession) -> DataFrame:
        return spark.read.schema(self.schema).parquet(str(self.folder / "data"))


class Snapshots:
    """The last snapshot of a flow, and while a new one is applied that one as well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def last(self) -> Snapshot | None:
        """The newest snapshot; it may still have to be applied."""
        return self._nth(max(self._numbers(), default=-1))

    def before(self, snapshot: Snapshot) -> Snapshot | None:
        """The one that `snapshot` is compared with."""
        return self._nth(snapshot.number - 1)

    def keep(self, rows: DataFrame, version: Any, check: Callable[[DataFrame], None]) -> Snapshot:
        """Add a snapshot as a whole: it is there, or nothing is. `rows` are computed once.

        What `check` raises about them goes through.
        """
        number = max(self._numbers(), default=-1) + 1
        aside = self.folder / f"{number}.new"
        rows.write.mode("overwrite").parquet(str(aside / "data"))
        told = {"version": to_json(version), "schema": rows.schema.json()}
        (aside / "snapshot.json").write_text(json.dumps(told))
        check(self._read(aside).rows(rows.sparkSession))
        return self._read(aside.rename(self.folder / str(number)))

    def applied(self, snapshot: Snapshot) -> None:
        """Mark a snapshot as applied; what came before it is not needed any more."""
        (snapshot.folder / "applied").touch()
        for number in self._numbers():
            if number < snapshot.number:
                shutil.rmtree(self.folder / str(number))

    def _numbers(self) -> list[int]:
        if not self.folder.is_dir():
            return []
        return [int(entry.name) for entry in self.folder.iterdir() if entry.name.isdigit()]

    def _nth(self, number: int) -> Snapshot | None:
        folder = self.folder / str(number)
        return self._read(folder) if folder.is_dir() else None

    def _read(self, folder: Path) -> Snapshot:
        from pyspark.sql.types import StructType

        told = json.loads((folder / "snapshot.json").read_text())
        return Snapshot(folder, from_json(told["version"]), StructType.fromJson(json.loads(told["schema"])))


def as_feed(rows: DataFrame, version: Any) -> DataFrame:
    """All of a snapshot as upserts."""
    from pyspark.sql import functions as F

    return rows.withColumns({VERSION: literal(version), GONE: F.lit(False)})


def difference(new: DataFrame, old: DataFrame | None, keys: Sequence[str], version: Any) -> DataFrame:
    """The rows of `new` that `old` lacks or has with other values, and those of `old` whose key is gone.

    Columns that only one of them has are NULL in the other.
    """
    from pyspark.sql import functions as F

    if old is None:
        return as_feed(new, version)
    key = F.struct(*[F.col(quoted([name])) for name in keys]).alias("__key")
    everything = tuple(new.columns)
    old = aligned(old, new.schema)
    left = new.select(key, F.struct(*map(_column, everything)).alias("__row"))
    right = old.select(key, F.struct(*map(_column, everything)).alias("__old_row"))
    joined = left.join(right, "__key", "full_outer")
    values = comparable(joined, everything), comparable(joined, everything, "__old_row")
    gone = F.col("__row").isNull()
    differs = gone | F.col("__old_row").isNull() | ~values[0].eqNullSafe(values[1])
    changed = joined.where(differs).select(F.coalesce("__row", "__old_row").alias("__row"), gone.alias(GONE))
    return changed.select(
        *[F.col(f"__row.{quoted([name])}").alias(name) for name in everything],
        literal(version).alias(VERSION),
        GONE,
    )


def aligned(rows: DataFrame, schema: StructType) -> DataFrame:
    """`rows` with the columns and types of `schema`; what they lack is NULL."""
    from pyspark.sql import functions as F

    has = {name.lower(): name for name in rows.columns}
    return rows.select(
        *[
            (_column(has[field.name.lower()]) if field.name.lower() in has else F.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in schema.fields
        ]
    )


def require_unique(rows: DataFrame, keys: Sequence[Any], flow: str) -> None:
    """Raise PipelineError for a snapshot with two rows of one key."""
    from pyspark.sql import functions as F

    twice = rows.groupBy(*keys).count().where("count > 1")
    found = twice.select(
        F.to_json(F.struct(*map(_column, twice.columns[:-1])), {"ignoreNullFields": "false"}), "count"
    )
    row = found.first()
    if row is not None:
        raise refused(
            "DUPLICATE_KEY_VIOLATION",
            flow,
            f"found {row[1]} rows for the key '{row[0]}' in its snapshot; a key has one row at most.",
            "Name all columns that identify a row as keys, or leave out the repeated rows.",
        )


def _column(name: str) -> Any:
    from pyspark.sql import functions as F

    return F.col(quoted([name]))
