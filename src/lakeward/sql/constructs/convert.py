"""CONVERT TO DELTA of a table by its name; Delta's own statement takes names of Spark's session catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import names_path, quote_name
from lakeward.session import temporary_conf
from lakeward.spark_internals import jvm_view
from lakeward.sql.construct import BEGINNING, Command, Construct, in_area
from lakeward.sql.session_context import current_context, run_with_delta
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Partitions of non-Delta tables are in no catalog: they are found by listing the folder.
_CONF = {"spark.databricks.delta.convert.useCatalogPartitions": "false"}


@dataclass(frozen=True)
class ConvertToDelta(Command):
    """Makes a Delta table of a Parquet table, in its folder; `clauses` is the text after the name."""

    table: list[str]
    clauses: str

    def run(self, spark: SparkSession) -> None:
        catalog, schema, name = current_context(spark).qualify(self.table)
        codec = jvm_view(spark).lakeward.IdentifierCodec
        table = quote_name([codec.SESSION, codec.database(catalog, schema), name])
        with temporary_conf(spark, _CONF):
            run_with_delta(spark, f"CONVERT TO DELTA {table} {self.clauses}")


def _convert(cursor: TokenCursor) -> ConvertToDelta:
    cursor.need("CONVERT", "TO", "DELTA")
    table = cursor.name(3)
    if names_path(table):
        raise Unmatched  # a format and a path: Delta's statement
    begin = cursor.at
    cursor.finish()
    return ConvertToDelta(table, cursor.text(begin))


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="CONVERT TO DELTA of a table",
        example="CONVERT TO DELTA main.default.t",
        note="Delta's statement, for Parquet tables of every catalog",
        statement=_convert,
        trigger=BEGINNING + r"convert\s+to\s+delta\b",
        test="tests/session/test_other_formats.py",
    ),
)
