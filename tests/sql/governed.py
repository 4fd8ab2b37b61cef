"""A table with a row filter and a column mask."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from delta.tables import DeltaTable
    from pyspark.sql import SparkSession


class Governed:
    """Of `rows` (id, region, ssn) readers see those of the region EU, and of the ssn the region."""

    def __init__(self, spark: SparkSession, rows: Sequence[tuple[int, str, str]]) -> None:
        self.spark = spark
        self.name = f"people_{uuid.uuid4().hex[:8]}"
        self.table = f"main.default.{self.name}"
        self.functions(spark)
        frame = spark.createDataFrame(rows, "id INT, region STRING, ssn STRING")
        frame.coalesce(1).writeTo(self.table).tableProperty("delta.columnMapping.mode", "name").create()
        spark.sql(f"ALTER TABLE {self.table} SET ROW FILTER main.default.policy_eu ON (region)")
        spark.sql(
            f"ALTER TABLE {self.table} ALTER COLUMN SSN "
            "SET MASK main.default.policy_hide USING COLUMNS (region)"
        )

    @staticmethod
    def functions(spark: SparkSession) -> None:
        """The filter `policy_eu` and the mask `policy_hide`."""
        spark.sql(
            "CREATE OR REPLACE FUNCTION main.default.policy_eu(r STRING) RETURNS BOOLEAN RETURN r = 'EU'"
        )
        spark.sql(
            "CREATE OR REPLACE FUNCTION main.default.policy_hide(s STRING, r STRING) RETURNS STRING "
            "RETURN CASE WHEN is_member('auditors') THEN s ELSE concat(r, '-***') END"
        )

    def drop(self) -> None:
        """The table without its policies."""
        self.spark.sql(f"ALTER TABLE {self.table} DROP ROW FILTER")
        self.spark.sql(f"ALTER TABLE {self.table} ALTER COLUMN ssn DROP MASK")

    def delta(self) -> DeltaTable:
        """Delta's own object for the table."""
        from delta.tables import DeltaTable

        return DeltaTable.forName(self.spark, self.table)

    def bare(self) -> list[tuple[Any, ...]]:
        """All that is in the table, read by its path."""
        location = self.spark.sql(f"DESCRIBE DETAIL {self.table}").collect()[0]["location"]
        return sorted(map(tuple, self.spark.read.format("delta").load(location).collect()))
