"""DESCRIBE DETAIL, DESCRIBE EXTENDED and SHOW TBLPROPERTIES."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.dataset_properties import KIND_PROPERTY, hidden_properties, shown_properties, table_type
from lakeward.quoting import quote_identifier, quote_name
from lakeward.session import show_users_name
from lakeward.sql.construct import BEGINNING, Command, Construct, in_area
from lakeward.sql.constructs.event_log import PIPELINE
from lakeward.sql.constructs.key_clauses import Key
from lakeward.sql.constructs.keys import stored_keys
from lakeward.sql.session_context import current_context, run_with_delta, table_properties
from lakeward.sql.standalone_tables import StandaloneTable, find_standalone_table
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PROPERTIES = "Table Properties"


@dataclass(frozen=True)
class DescribeDetail(Command):
    """Runs Delta's DESCRIBE DETAIL, and shows the user's name of the table instead of the stored one."""

    table: list[str]

    def run(self, spark: SparkSession) -> DataFrame:
        # Quotes: names such as `version` are keywords of Delta's grammar.
        detail = show_users_name(spark, run_with_delta(spark, f"DESCRIBE DETAIL {quote_name(self.table)}"))
        # A dataset that an update has planned has none yet.
        properties = detail.collect()[0]["properties"] or {}
        if not hidden_properties(properties):
            return detail
        from pyspark.sql import functions as F

        shown = [F.lit(text) for pair in shown_properties(properties).items() for text in pair]
        return detail.withColumn("properties", F.create_map(*shown).cast("map<string, string>"))


def _describe_detail(cursor: TokenCursor) -> DescribeDetail:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("DETAIL")
    table = cursor.name(3)
    cursor.end()
    return DescribeDetail(table)


@dataclass(frozen=True)
class DescribeExtended(Command):
    """Runs Spark's DESCRIBE EXTENDED, with keys, types of datasets and refreshes of standalone ones."""

    table: list[str]
    text: str

    def run(self, spark: SparkSession) -> DataFrame:
        rows = run_with_delta(spark, self.text)
        # The rows of a command are in memory: collecting them starts no Spark job.
        described = [tuple(row) for row in rows.collect()]
        # Views have no keys; a temporary one may have the name of a table that has some.
        if not any(name == "# Detailed Table Information" for name, _, _ in described):
            return rows
        added = _constraints(stored_keys(spark, self.table))
        is_dataset = any(name == _PROPERTIES and KIND_PROPERTY in value for name, value, _ in described)
        if is_dataset:
            properties = table_properties(spark, quote_name(self.table))
            shown = ",".join(f"{key}={value}" for key, value in sorted(shown_properties(properties).items()))
            values = {"Type": table_type(properties), _PROPERTIES: f"[{shown}]"}
            described = [(name, values.get(name, value), comment) for name, value, comment in described]
            pipeline = properties.get(PIPELINE)
            added = [*_refreshes(find_standalone_table(current_context(spark).settings, pipeline)), *added]
        return spark.createDataFrame([*described, *added], rows.schema) if is_dataset or added else rows


def _constraints(keys: Sequence[Key]) -> list[tuple[str, str, str]]:
    """Return the section of keys, in the form that clients such as SQLAlchemy's dialect read."""
    if not keys:
        return []
    shown = [(key.name or "", key.text(quote_identifier), "") for key in keys]
    return [("", "", ""), ("# Constraints", "", ""), *shown]


def _refreshes(standalone: StandaloneTable | None) -> list[tuple[str, str, str]]:
    if standalone is None:
        return []
    latest = standalone.latest
    return [
        ("View Text", standalone.query or standalone.text, ""),
        ("", "", ""),
        ("# Refresh Information", "", ""),
        ("Last Refreshed", latest.ended if latest else "", ""),
        ("Latest Refresh Status", latest.state if latest else "", (latest and latest.error) or ""),
        ("Refresh Schedule", standalone.schedule or "MANUAL", ""),
    ]


@dataclass(frozen=True)
class ShowProperties(Command):
    """Runs Spark's SHOW TBLPROPERTIES, without the properties that only the runtime uses."""

    text: str

    def run(self, spark: SparkSession) -> DataFrame:
        rows = run_with_delta(spark, self.text)
        properties = {row["key"]: row["value"] for row in rows.collect()}
        hidden = hidden_properties(properties)
        return rows.where(~rows["key"].isin(sorted(hidden))) if hidden else rows


def _show_properties(cursor: TokenCursor) -> ShowProperties:
    cursor.need("SHOW", "TBLPROPERTIES")
    cursor.name(3)
    cursor.end()
    return ShowProperties(cursor.text(0))


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


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="DESCRIBE EXTENDED",
        example="DESCRIBE EXTENDED t",
        note="also keys; query, refresh and schedule of standalone materialized views and streaming tables",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_extended,
        trigger=BEGINNING + r"desc(?:ribe)?\s+(?:table\s+)?(?:extended|formatted)\b",
        test="tests/sql/test_standalone_tables.py",
    ),
    Construct(
        name="SHOW TBLPROPERTIES",
        example="SHOW TBLPROPERTIES t",
        note="Spark's result without the properties of the runtime",
        statement=_show_properties,
        trigger=BEGINNING + r"show\s+tblproperties\b",
        test="tests/sql/test_standalone_tables.py",
    ),
    Construct(
        name="DESCRIBE DETAIL",
        example="DESCRIBE DETAIL t",
        note="Delta's result with the user's name of the table",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_detail,
        trigger=BEGINNING + r"desc(?:ribe)?\s+detail\s+[\w`]",
        test="tests/sql/test_names.py",
    ),
)
