"""CREATE TABLE … LIKE … COPY LOCATION: another name for the files of an external table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name, quote_string
from lakeward.sql.construct import Command, Construct, in_area
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class CreateTableOfLocation(Command):
    """Creates a table with the format, the columns and the folder of another one."""

    table: list[str]
    source: list[str]
    if_not_exists: bool

    def run(self, spark: SparkSession) -> None:
        name, source = quote_name(self.table), quote_name(self.source)
        if self.if_not_exists and spark.catalog.tableExists(name):
            return
        about = {
            row["col_name"]: row["data_type"]
            for row in spark.sql(f"DESCRIBE TABLE EXTENDED {source}").collect()
        }
        location = quote_string(about["Location"])
        # The folder of a Delta table has its columns, its layout and its properties.
        like = "USING delta" if about["Provider"].lower() == "delta" else f"LIKE {source}"
        spark.sql(f"CREATE TABLE {name} {like} LOCATION {location}")


def _create_table(cursor: TokenCursor) -> CreateTableOfLocation:
    cursor.need("CREATE", "TABLE")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    table = cursor.name(3)
    cursor.need("LIKE")
    source = cursor.name(3)
    cursor.need("COPY", "LOCATION")
    cursor.end()
    return CreateTableOfLocation(table, source, if_not_exists)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="CREATE TABLE … LIKE … COPY LOCATION",
        example="CREATE TABLE main.sales.t LIKE hive_metastore.sales.t COPY LOCATION",
        statement=_create_table,
        test="tests/sql/test_copy_location.py",
    ),
)
