"""Partitions of tables in other formats than Delta's: folders, which are found by listing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.spark_internals import analyzed_plan, scala_list
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.token_cursor import TokenCursor, Unmatched, unquote_token

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class ShowPartitions(Command):
    """Lists the folders of a table's partitions; Delta lists those of its own tables.

    `chosen` are the values of the PARTITION clause: column → value as a folder's name has it.
    """

    table: list[str]
    chosen: dict[str, str]
    text: str

    def run(self, spark: SparkSession) -> DataFrame | Rows:
        relation = file_relation(spark, self.table)
        if relation is None or relation.partitionSchema().isEmpty():
            return run_with_delta(spark, self.text)
        index = relation.location()
        [root] = scala_list(index.rootPaths())
        found = [
            str(each.path()).removeprefix(f"{root}/")
            for each in scala_list(index.partitionSpec().partitions())
        ]
        return Rows("partition STRING", [[each] for each in sorted(found) if self._is_chosen(each)])

    def _is_chosen(self, partition: str) -> bool:
        parts = (each.partition("=") for each in partition.split("/"))
        values = {unquote(column).lower(): unquote(value) for column, _, value in parts}
        return all(values.get(column.lower()) == value for column, value in self.chosen.items())


@dataclass(frozen=True)
class RepairTable(Command):
    """Has no effect: partitions are found by listing, and no catalog holds a copy of Delta's metadata."""

    table: list[str]
    operation: str
    of_metadata: bool

    def run(self, spark: SparkSession) -> None:
        is_delta = file_relation(spark, self.table) is None
        if is_delta and not self.of_metadata:
            raise SqlError(
                "DELTA_OPERATION_NOT_ALLOWED",
                f"Operation not allowed: `{self.operation}` is not supported for Delta tables: "
                f"{quote_name(self.table)}.",
                sql_state="0AKDC",
            )


def file_relation(spark: SparkSession, table: list[str]) -> Any:
    """Return the HadoopFsRelation of a table in another format than Delta's; None for other tables."""
    leaves = scala_list(analyzed_plan(spark.table(quote_name(table))).collectLeaves())
    if len(leaves) != 1 or leaves[0].getClass().getSimpleName() != "LogicalRelation":
        return None
    relation = leaves[0].relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return None
    return None if "Delta" in relation.fileFormat().getClass().getSimpleName() else relation


def _show_partitions(cursor: TokenCursor) -> ShowPartitions:
    cursor.need("SHOW", "PARTITIONS")
    table = cursor.name()
    chosen = {}
    if cursor.words("PARTITION", "("):
        while not cursor.words(")"):
            cursor.words(",")
            column = cursor.part()
            cursor.need("=")
            if cursor.next is None:
                raise Unmatched
            chosen[column] = unquote_token(cursor.next.text)
            cursor.at += 1
    cursor.end()
    return ShowPartitions(table, chosen, cursor.text(0))


def _repair(cursor: TokenCursor) -> RepairTable:
    cursor.words("MSCK")
    cursor.need("REPAIR", "TABLE")
    table = cursor.name()
    of_metadata = cursor.words("SYNC", "METADATA")
    if not of_metadata and cursor.next is not None:
        cursor.one_of("ADD", "DROP", "SYNC")
        cursor.need("PARTITIONS")
    cursor.end()
    return RepairTable(table, "MSCK REPAIR TABLE", of_metadata)


def _recover(cursor: TokenCursor) -> RepairTable:
    cursor.need("ALTER", "TABLE")
    table = cursor.name()
    cursor.need("RECOVER", "PARTITIONS")
    cursor.end()
    return RepairTable(table, "ALTER TABLE RECOVER PARTITIONS", of_metadata=False)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="SHOW PARTITIONS",
        example="SHOW PARTITIONS t",
        note="of tables in other formats than Delta's, by listing folders",
        statement=_show_partitions,
        trigger=BEGINNING + r"show\s+partitions\b",
    ),
    Construct(
        name="MSCK REPAIR TABLE, SYNC METADATA",
        example="MSCK REPAIR TABLE t SYNC METADATA",
        note="has no effect: partitions are found by listing",
        starts=("MSCK", "REPAIR"),
        statement=_repair,
        trigger=BEGINNING + r"(?:msck\s+)?repair\s+table\b",
    ),
    Construct(
        name="ALTER TABLE … RECOVER PARTITIONS",
        example="ALTER TABLE t RECOVER PARTITIONS",
        note="has no effect: partitions are found by listing",
        statement=_recover,
        trigger=BEGINNING + r"alter\s+table\b.+\brecover\s+partitions\b",
    ),
)
