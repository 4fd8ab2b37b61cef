"""`spark.sql("INSERT …")` returns the numbers of rows of a Delta table, as on Databricks.

Spark returns a DataFrame without columns. `session/jvm/InsertedRows.java` reads the numbers from the commit.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import Order, PatchSpec
from lakeward.spark_internals import inserted_rows

INSERTED_COLUMNS = "num_affected_rows BIGINT, num_inserted_rows BIGINT"
"""The result of INSERT."""


def _sql(before: Any) -> Any:
    @wraps(before)
    def sql(self: Any, sqlQuery: str, *args: Any, **kwargs: Any) -> Any:
        result = before(self, sqlQuery, *args, **kwargs)
        # Each question to the JVM takes time.
        if "insert" in str(sqlQuery).lower():
            return inserted_rows(result, INSERTED_COLUMNS) or result
        return result

    return sql


PATCHES = (
    PatchSpec(
        "pyspark.sql.session:SparkSession",
        "sql",
        "session",
        "INSERT into a Delta table returns num_affected_rows and num_inserted_rows",
        _sql,
        Order.SOURCE,
    ),
)
