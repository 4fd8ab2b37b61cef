"""Versions of tables in statements of Delta, and RESTORE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name, quote_string
from lakeward.sql.construct import BEGINNING, Command, Construct, in_area
from lakeward.sql.dataset_kinds import require_no_dataset
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class TableVersion:
    """A version of a table: a number, a timestamp as text, or an expression that gives a timestamp."""

    number: int | None = None
    timestamp: str | None = None
    expression: str | None = None

    def resolve(self, spark: SparkSession) -> TableVersion:
        """Return the version with the value of the expression; raises what Spark raises."""
        if self.expression is None:
            return self
        row = spark.sql(f"SELECT CAST(CAST(({self.expression}) AS TIMESTAMP) AS STRING)").first()
        return TableVersion(timestamp="NULL" if row is None or row[0] is None else row[0])

    def clause(self) -> str:
        """Return the clause of a resolved version, as Delta's parser takes it."""
        if self.number is not None:
            return f" VERSION AS OF {self.number}"
        return "" if self.timestamp is None else f" TIMESTAMP AS OF {quote_string(self.timestamp)}"


def read_table_version(cursor: TokenCursor, *following: str) -> TableVersion:
    """Read `VERSION | TIMESTAMP AS OF …` if it comes next, up to one of the words `following` or the end."""
    if cursor.words("VERSION", "AS", "OF"):
        return TableVersion(number=_number(cursor.string()) if cursor.is_string else cursor.integer())
    if not cursor.words("TIMESTAMP", "AS", "OF"):
        return TableVersion()
    begin = cursor.at
    while cursor.next is not None and cursor.next.word not in following:
        cursor.at += 1
    tokens = cursor.read(begin)
    if not tokens:
        raise Unmatched
    if all(token.is_string for token in tokens):
        return TableVersion(timestamp=TokenCursor(tokens).string())
    return TableVersion(expression=cursor.text(begin))


def _number(text: str) -> int:
    if not text.isdecimal():
        raise Unmatched
    return int(text)


@dataclass(frozen=True)
class Restore(Command):
    """Restores a table by Delta's RESTORE, with the timestamp as a constant."""

    table: list[str]
    version: TableVersion

    def run(self, spark: SparkSession) -> DataFrame:
        require_no_dataset(spark, self.table, "RESTORE")
        version = self.version.resolve(spark)
        return run_with_delta(spark, f"RESTORE TABLE {quote_name(self.table)} TO{version.clause()}")


def _restore(cursor: TokenCursor) -> Restore:
    cursor.need("RESTORE")
    cursor.words("TABLE")
    table = cursor.name()
    cursor.words("TO")
    version = read_table_version(cursor)
    cursor.end()
    if version == TableVersion():
        raise Unmatched
    return Restore(table, version)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="RESTORE",
        example="RESTORE TABLE t TO TIMESTAMP AS OF current_timestamp() - INTERVAL 1 DAY",
        note="Delta's RESTORE; the timestamp can be an expression",
        statement=_restore,
        trigger=BEGINNING + r"restore\b",
    ),
)
