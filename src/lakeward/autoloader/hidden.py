"""`_metadata` as Spark's own file source has it: hidden from `*`, there when it is named (§5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.autoloader.plan import METADATA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["hide_metadata"]


def hide_metadata(raw: DataFrame, columns: list[str]) -> DataFrame:
    """`raw` without its last column, `_metadata`, which stays resolvable as a hidden column."""
    from pyspark.sql import functions as F

    quoted = [f"`{name.replace('`', '``')}`" for name in columns]
    marked = raw.select(*quoted, F.col(METADATA).alias(METADATA, metadata={"__metadata_col": True}))
    shown = marked.select(*quoted)
    jvm: Any = raw.sparkSession._jvm
    attribute = marked._jdf.queryExecution().analyzed().output().last()
    project = getattr(getattr(jvm.org.apache.spark.sql.catalyst.plans.logical, "Project$"), "MODULE$")
    attributes = jvm.org.apache.spark.api.python.PythonUtils.toSeq([attribute])
    shown._jdf.queryExecution().analyzed().setTagValue(project.hiddenOutputTag(), attributes)
    return shown
