"""DESCRIBE DETAIL and DESCRIBE EXTENDED."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name
from lakeward.session import show_users_name
from lakeward.sql.construct import BEGINNING, Command, Construct
from lakeward.sql.constructs.event_log import PIPELINE, managing_pipeline
from lakeward.sql.session_context import current_context, run_with_delta
from lakeward.sql.standalone_tables import find_standalone_table
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_AREA = "Tables"


@dataclass(frozen=True)
class DescribeDetail(Command):
    """Runs Delta's DESCRIBE DETAIL, and shows the user's name of the table instead of the stored one."""

    table: list[str]

    def run(self, spark: SparkSession) -> DataFrame:
        # Quotes: names such as `version` are keywords of Delta's grammar.
        return show_users_name(spark, run_with_delta(spark, f"DESCRIBE DETAIL {quote_name(self.table)}"))


def _describe_detail(cursor: TokenCursor) -> DescribeDetail:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("DETAIL")
    table = cursor.name(3)
    cursor.end()
    return DescribeDetail(table)


@dataclass(frozen=True)
class DescribeExtended(Command):
    """Runs Spark's DESCRIBE EXTENDED, and adds refreshes and schedule of a standalone table."""

    table: list[str]
    text: str

    def run(self, spark: SparkSession) -> DataFrame:
        rows = run_with_delta(spark, self.text)
        # The rows of a command are in memory: collecting them starts no Spark job.
        properties = {row["col_name"]: row["data_type"] for row in rows.collect()}.get("Table Properties")
        if f"{PIPELINE}=" not in (properties or ""):
            return rows
        pipeline = managing_pipeline(spark, quote_name(self.table))
        standalone = find_standalone_table(current_context(spark).settings, pipeline)
        if standalone is None:
            return rows
        latest = standalone.latest
        added = [
            ("", "", ""),
            ("# Refresh Information", "", ""),
            ("Type", standalone.kind.upper(), ""),
            ("View Text" if standalone.kind == "materialized_view" else "Statement", standalone.text, ""),
            ("Last Refreshed", latest.ended if latest else "", ""),
            ("Latest Refresh Status", latest.state if latest else "", (latest and latest.error) or ""),
            ("Refresh Schedule", standalone.schedule or "MANUAL", ""),
        ]
        return rows.union(spark.createDataFrame(added, rows.schema))


def extended_table(cursor: TokenCursor) -> list[str]:
    """Read DESCRIBE [TABLE] EXTENDED and the name of the table."""
    cursor.one_of("DESCRIBE", "DESC")
    cursor.words("TABLE")
    cursor.one_of("EXTENDED", "FORMATTED")
    return cursor.name(3)


def _describe_extended(cursor: TokenCursor) -> DescribeExtended:
    table = extended_table(cursor)
    cursor.end()
    return DescribeExtended(table, cursor.text(0))


CONSTRUCTS = (
    Construct(
        name="DESCRIBE EXTENDED",
        area=_AREA,
        verdict="emulated",
        example="DESCRIBE EXTENDED t",
        note="also latest refresh and schedule of standalone materialized views and streaming tables",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_extended,
        trigger=BEGINNING + r"desc(?:ribe)?\s+(?:table\s+)?(?:extended|formatted)\b",
        test="tests/sql/test_standalone_tables.py",
    ),
    Construct(
        name="DESCRIBE DETAIL",
        area=_AREA,
        verdict="emulated",
        example="DESCRIBE DETAIL t",
        note="Delta's result with the user's name of the table",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_detail,
        trigger=BEGINNING + r"desc(?:ribe)?\s+detail\s+[\w`]",
        test="tests/sql/test_names.py",
    ),
)
