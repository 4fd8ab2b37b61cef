"""Bloom filter indexes: they skip files on the platform and change no result, so none is built here.

Source: https://docs.databricks.com/aws/en/sql/language-manual/delta-create-bloomfilter-index
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.sql.construct import Command, Construct, in_area
from lakeward.sql.constructs.partitions import file_relation
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONDITIONS = {
    "CREATE": "DELTA_CANNOT_CREATE_BLOOM_FILTER_NON_EXISTING_COL",
    "DROP": "DELTA_BLOOM_FILTER_DROP_ON_NON_EXISTING_COLUMNS",
}


@dataclass(frozen=True)
class BloomFilterIndex(Command):
    """Fails as the platform does without the Delta table or one of the columns, and has no other effect."""

    verb: str
    table: list[str]
    columns: list[str]

    def run(self, spark: SparkSession) -> None:
        known = {column.lower() for column in spark.table(quote_name(self.table)).columns}
        if file_relation(spark, self.table) is not None:
            message = f"{self.verb} BLOOMFILTER INDEX is only supported for Delta tables."
            raise SqlError("DELTA_ONLY_OPERATION", message, sql_state="0AKDD")
        unknown = [column for column in self.columns if column.lower() not in known]
        if unknown:
            raise SqlError(
                _CONDITIONS[self.verb],
                f"Cannot {self.verb.lower()} bloom filter indices for the following non-existent column(s): "
                f"{', '.join(unknown)}.",
                sql_state="42703",
            )


def _statement(cursor: TokenCursor) -> BloomFilterIndex:
    verb = cursor.one_of(*_CONDITIONS)
    cursor.need("BLOOMFILTER", "INDEX", "ON")
    cursor.words("TABLE")
    table = cursor.name()
    columns: list[str] = []
    if cursor.words("FOR", "COLUMNS"):
        cursor.need("(")
        columns = cursor.separated(lambda: _column(cursor, verb))
        cursor.need(")")
    _options(cursor, verb)
    cursor.end()
    return BloomFilterIndex(verb, table, columns)


def _column(cursor: TokenCursor, verb: str) -> str:
    column = ".".join(cursor.name())
    _options(cursor, verb)
    return column


def _options(cursor: TokenCursor, verb: str) -> None:
    if verb == "CREATE" and cursor.words("OPTIONS"):
        cursor.skip()


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="BLOOMFILTER INDEX",
        example="CREATE BLOOMFILTER INDEX ON TABLE t FOR COLUMNS (id OPTIONS (fpp = 0.1))",
        note="no index is built: it would change no result",
        starts=("CREATE", "DROP"),
        statement=_statement,
    ),
)
