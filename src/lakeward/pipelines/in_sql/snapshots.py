"""FROM SNAPSHOT … WITH VERSION: two queries, of the version that comes next and of its rows (spec §3.5.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.cdc import refused
from lakeward.sql import tokenize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField

__all__ = ["SqlSnapshots", "as_relations"]

_LAST, _CURRENT = "last_snapshot_version", "current_snapshot_version"


def as_relations(text: str) -> str:
    """A query whose calls of the two functions are names of relations; all other characters stay in place.

    >>> as_relations("SELECT 'last_snapshot_version()' FROM Last_Snapshot_Version( ) v")
    "SELECT 'last_snapshot_version()' FROM Last_Snapshot_Version    v"
    """
    tokens = tokenize(text) or ()
    for name, opening, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if name.word.lower() in (_LAST, _CURRENT) and (opening.text, closing.text) == ("(", ")"):
            text = text[: opening.start] + " " * (closing.end - opening.start) + text[closing.end :]
    return text


@dataclass(frozen=True)
class SqlSnapshots:
    """The source of a flow: from the last version to the next snapshot and its own, None when there is none.

    `versions` and `rows` are the two queries; `column` is the name of the version's only column.
    """

    spark: SparkSession
    flow: str
    column: str
    versions: Callable[[], DataFrame]
    rows: Callable[[], DataFrame]

    def __call__(self, last: Any) -> tuple[DataFrame, Any] | None:
        """Raises PipelineError for a version query of several rows or columns."""
        field = self._field()
        with self._known(_LAST, field, last):
            found = self.versions().limit(2).collect()
        if len(found) > 1:
            raise refused(
                "INVALID_SNAPSHOT_VERSION",
                self.flow,
                "got more than one row from its version query.",
                "It gives the next version, or no row when there is none: add ORDER BY … LIMIT 1.",
            )
        if not found or found[0][0] == last:
            return None
        with self._known(_CURRENT, field, found[0][0]):
            return self.rows(), found[0][0]

    def nothing(self) -> tuple[DataFrame, Any]:
        """What a snapshot looks like, before there is one."""
        field = self._field()
        version = _any_of(field.dataType)
        with self._known(_CURRENT, field, version):
            return self.rows(), version

    def _field(self) -> StructField:
        from pyspark.sql.types import NullType, StructField

        # The type of the last version is that of the query, which may compare itself with it.
        with self._known(_LAST, StructField(self.column, NullType()), None):
            fields = self.versions().schema.fields
        if len(fields) != 1:
            raise refused(
                "INVALID_SNAPSHOT_VERSION",
                self.flow,
                f"has a version query of {len(fields)} columns; a version is one, which may be a struct.",
            )
        return fields[0]

    @contextmanager
    def _known(self, relation: str, field: StructField, value: Any) -> Iterator[None]:
        from pyspark.sql.types import StructType

        rows = [] if value is None else [(value,)]
        self.spark.createDataFrame(rows, StructType([field])).createOrReplaceTempView(relation)
        try:
            yield
        finally:
            self.spark.catalog.dropTempView(relation)


def _any_of(type_: DataType) -> Any:
    """Some value of a type."""
    from pyspark.sql import types as T

    if isinstance(type_, T.StructType):
        return T.Row(**{field.name: _any_of(field.dataType) for field in type_.fields})
    values: dict[type, Any] = {
        T.StringType: "",
        T.TimestampType: datetime(1970, 1, 1, tzinfo=timezone.utc),
        T.TimestampNTZType: datetime(1970, 1, 1),  # noqa: DTZ001  # it has no zone
        T.DateType: date(1970, 1, 1),
        T.DecimalType: Decimal(0),
        T.BinaryType: b"",
        T.FloatType: 0.0,
        T.DoubleType: 0.0,
    }
    return values.get(type(type_), 0)
