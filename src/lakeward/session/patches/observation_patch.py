"""`Observation` of rows that create or replace a Delta table has values, as on Databricks.

It waits for the execution in which Delta writes the files.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec
from lakeward.spark_internals import java_session, jvm_view


def _on(before: Any) -> Any:
    @wraps(before)
    def on(self: Any, df: Any, *exprs: Any) -> Any:
        spark = df.sparkSession
        jvm: Any = jvm_view(spark)
        jvm.lakeward.ObservedWrites.watch(java_session(spark))
        return before(self, df, *exprs)

    return on


PATCHES = (
    PatchSpec(
        "pyspark.sql.observation:Observation",
        "_on",
        "session",
        "an execution of CREATE TABLE AS SELECT without metrics does not complete it",
        _on,
    ),
)
