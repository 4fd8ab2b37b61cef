"""Snapshots as a change feed: the differences to the previous one, sequenced by version.

    <folder>/<n>/data/           the rows of the n-th snapshot
    <folder>/<n>/snapshot.json   its version and schema
    <folder>/<n>/applied         its changes are in the target

A snapshot is stored before its changes are applied. After a kill in between, the same two snapshots yield
the same events with the same version again, which the target already has or takes now."""

from __future__ import annotations

import base64
import json
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.nested_types import cast_by_name
from lakeward.pipelines.autocdc.cdc_schema import DELETED_COLUMN, END_AT, START_AT, VERSION_COLUMN, column
from lakeward.pipelines.autocdc.scd2 import comparable_values
from lakeward.pipelines.storage.checkpoints import read_state_file

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType
# Name, SQL type, encoder, decoder. The first match applies: a datetime is also a date.
_VERSION_TYPES: dict[type, tuple[str, str, Callable[[Any], str], Callable[[str], Any]]] = {
    datetime: ("datetime", "timestamp", datetime.isoformat, datetime.fromisoformat),
    date: ("date", "date", date.isoformat, date.fromisoformat),
    int: ("int", "bigint", str, int),
    str: ("str", "string", str, str),
    float: ("float", "double", repr, float),
    Decimal: ("decimal", "decimal(38,18)", str, Decimal),
    bytes: ("bytes", "binary", lambda raw: base64.b64encode(raw).decode(), base64.b64decode),
}


def snapshot_error(condition: str, flow: str, problem: str, next_step: str | None = None) -> PipelineError:
    """Return an error about a snapshot of `flow` with the platform's condition."""
    return PipelineError(
        f"APPLY_CHANGES_FROM_SNAPSHOT_ERROR.{condition}", f"The flow `{flow}` {problem}", next_step=next_step
    )


def check_version(version: Any, last: Any, flow: str) -> None:
    """Raise PipelineError for an invalid version, or one that is not greater than `last`."""
    if type(version).__name__ == "Column":
        raise snapshot_error(
            "DYNAMIC_SNAPSHOT_VERSION",
            flow,
            "got a Column as the version of its snapshot.",
            "A version is a Python value that is known before the snapshot is read.",
        )
    if not _is_version(version):
        names = ", ".join(name for name, *_ in _VERSION_TYPES.values())
        raise snapshot_error(
            "INVALID_SNAPSHOT_VERSION_TYPE",
            flow,
            f"got {version!r} as the version of its snapshot, which is of type {type(version).__name__}.",
            f"A version is one of: {names}.",
        )
    if isinstance(version, float | Decimal) and math.isnan(version):
        raise snapshot_error("SNAPSHOT_VERSION_NOT_SORTABLE", flow, "got NaN as the version of its snapshot.")
    if last is None:
        return
    try:
        is_older = version < last
    except TypeError:
        raise snapshot_error(
            "SNAPSHOT_VERSION_NOT_SORTABLE",
            flow,
            f"got the version {version!r} after {last!r}: they cannot be compared.",
            "Use versions of one type, or refresh the table fully.",
        ) from None
    if is_older or version == last:
        raise snapshot_error(
            "OUT_OF_ORDER_SNAPSHOT_VERSION",
            flow,
            f"got the version {version!r} after {last!r}.",
            "Return increasing versions, and None when no snapshot is newer.",
        )


def _is_version(value: object) -> bool:
    """Return whether a value is a version; a Row is one, for versions of SQL flows that are structs."""
    from pyspark.sql import Row

    if isinstance(value, Row):
        return all(map(_is_version, value))
    return isinstance(value, tuple(_VERSION_TYPES)) and not isinstance(value, bool)


def version_literal(version: Any) -> Column:
    """Return a version as a column with the type that such versions have in the target."""
    from pyspark.sql import Row
    from pyspark.sql import functions as F

    if isinstance(version, Row):
        parts = version.asDict().items()
        return F.struct(*[version_literal(value).alias(name) for name, value in parts])
    return F.lit(version).cast(_version_type(version)[1])


def version_to_json(version: Any) -> list[str]:
    """Encode a version with its Python type."""
    from pyspark.sql import Row

    if isinstance(version, Row):
        parts = {name: version_to_json(value) for name, value in version.asDict().items()}
        return ["struct", json.dumps(parts)]
    name, _, to_text, _ = _version_type(version)
    return [name, to_text(version)]


def version_from_json(kept: list[str]) -> Any:
    """Decode a version that `version_to_json` encoded."""
    from pyspark.sql import Row

    name, text = kept
    if name == "struct":
        return Row(**{part: version_from_json(value) for part, value in json.loads(text).items()})
    return next(from_text for kind, _, _, from_text in _VERSION_TYPES.values() if kind == name)(text)


def _version_type(version: Any) -> tuple[str, str, Callable[[Any], str], Callable[[str], Any]]:
    return next(kind for python, kind in _VERSION_TYPES.items() if isinstance(version, python))


@dataclass(frozen=True)
class Snapshot:
    """One snapshot, stored in `folder`."""

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


class SnapshotStore:
    """The last snapshot of a flow, and a new one while it is applied."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def last(self) -> Snapshot | None:
        """Return the newest snapshot, which may not be applied yet."""
        return self._nth(max(self._numbers(), default=-1))

    def previous(self, snapshot: Snapshot) -> Snapshot | None:
        """Return the snapshot that `snapshot` is compared with."""
        return self._nth(snapshot.number - 1)

    def add(self, rows: DataFrame, version: Any, check: Callable[[DataFrame], None]) -> Snapshot:
        """Store a snapshot atomically. `rows` are computed once. Errors of `check` propagate."""
        number = max(self._numbers(), default=-1) + 1
        aside = self.folder / f"{number}.new"
        rows.write.mode("overwrite").parquet(str(aside / "data"))
        content = {"version": version_to_json(version), "schema": rows.schema.json()}
        (aside / "snapshot.json").write_text(json.dumps(content))
        check(self._read(aside).rows(rows.sparkSession))
        return self._read(aside.rename(self.folder / str(number)))

    def mark_applied(self, snapshot: Snapshot) -> None:
        """Mark a snapshot as applied and delete the earlier ones."""
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

        def parse(text: str) -> Snapshot:
            content = json.loads(text)
            version, schema = version_from_json(content["version"]), json.loads(content["schema"])
            return Snapshot(folder, version, StructType.fromJson(schema))

        what = "The record of the last snapshot that AUTO CDC applied"
        next_step = "Restore the file from a backup, or refresh the target fully (--full-refresh)."
        return read_state_file(folder / "snapshot.json", what, parse, next_step=next_step)


def as_change_feed(rows: DataFrame, version: Any) -> DataFrame:
    """Return all rows of a snapshot as upserts."""
    from pyspark.sql import functions as F

    return rows.withColumns({VERSION_COLUMN: version_literal(version), DELETED_COLUMN: F.lit(False)})


def with_declared_versions(history: DataFrame, declared: StructType | None) -> DataFrame:
    """Return the columns of a target of snapshots, with start and end as INT if the target declares that.

    An int is a BIGINT where the target declares nothing.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegerType, LongType

    if declared is None:
        return history
    wanted = {field.name.lower() for field in declared.fields if isinstance(field.dataType, IntegerType)}
    return history.withColumns(
        {
            field.name: F.col(field.name).cast("int")
            for field in history.schema.fields
            if field.name in (START_AT, END_AT)
            and isinstance(field.dataType, LongType)
            and field.name.lower() in wanted
        }
    )


def require_declared_version(version: Any, target: StructType, flow: str) -> None:
    """Raise PipelineError for an int that the target's `__START_AT` cannot hold."""
    from pyspark.sql.types import IntegerType

    is_int = any(
        field.name == START_AT and isinstance(field.dataType, IntegerType) for field in target.fields
    )
    if is_int and isinstance(version, int) and not -(2**31) <= version < 2**31:
        raise snapshot_error(
            "INVALID_SNAPSHOT_VERSION_TYPE",
            flow,
            f"got the version {version}, and its target declares {START_AT} as INT.",
            f"Declare {START_AT} and {END_AT} as BIGINT.",
        )


def diff_snapshots(new: DataFrame, old: DataFrame | None, keys: Sequence[str], version: Any) -> DataFrame:
    """Return the rows of `new` that are new or changed, and the rows of `old` whose key is missing.

    Columns that only one of them has are NULL in the other.
    """
    from pyspark.sql import functions as F

    if old is None:
        return as_change_feed(new, version)
    key = F.struct(*[column(name) for name in keys]).alias("__key")
    everything = tuple(new.columns)
    old = align_columns(old, new.schema)
    left = new.select(key, F.struct(*map(column, everything)).alias("__row"))
    right = old.select(key, F.struct(*map(column, everything)).alias("__old_row"))
    joined = left.join(right, "__key", "full_outer")
    values = comparable_values(joined, everything), comparable_values(joined, everything, "__old_row")
    gone = F.col("__row").isNull()
    differs = gone | F.col("__old_row").isNull() | ~values[0].eqNullSafe(values[1])
    changed = joined.where(differs).select(
        F.coalesce("__row", "__old_row").alias("__row"), gone.alias(DELETED_COLUMN)
    )
    return changed.select(
        *[column(name, of="__row").alias(name) for name in everything],
        version_literal(version).alias(VERSION_COLUMN),
        DELETED_COLUMN,
    )


def align_columns(rows: DataFrame, schema: StructType) -> DataFrame:
    """Return `rows` with the columns and types of `schema`; missing columns are NULL."""
    from pyspark.sql import functions as F

    has = {field.name.lower(): field for field in rows.schema.fields}
    return rows.select(
        *[
            cast_by_name(column(own.name), own.dataType, field.dataType).alias(field.name)
            if (own := has.get(field.name.lower())) is not None
            else F.lit(None).cast(field.dataType).alias(field.name)
            for field in schema.fields
        ]
    )


def require_unique_keys(rows: DataFrame, keys: Sequence[Any], flow: str) -> None:
    """Raise PipelineError for a snapshot with several rows of one key."""
    from pyspark.sql import functions as F

    twice = rows.groupBy(*keys).count().where("count > 1")
    found = twice.select(
        F.to_json(F.struct(*map(column, twice.columns[:-1])), {"ignoreNullFields": "false"}), "count"
    )
    row = found.first()
    if row is not None:
        raise snapshot_error(
            "DUPLICATE_KEY_VIOLATION",
            flow,
            f"found {row[1]} rows for the key '{row[0]}' in its snapshot; a key has at most one row.",
            "Declare all columns that identify a row as keys, or remove the duplicates.",
        )
