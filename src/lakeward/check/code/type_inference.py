"""What a name or a step of a chain is, as far as the source tells: `spark.read` is a reader.

A small machine: a chain `spark.read.format(…).load(…)` starts at the kind of its root, and each step leads
to the next kind. What is not known is None; steps that only a DataFrame has prove that it was one.
"""

from __future__ import annotations

import re

__all__ = ["CLASSES", "annotated", "named", "step"]

CLASSES = {
    "pyspark.sql.SparkSession": "spark_class",
    "pyspark.sql.session.SparkSession": "spark_class",
    "databricks.connect.DatabricksSession": "spark_class",
    "databricks.connect.session.DatabricksSession": "spark_class",
    "delta.tables.DeltaTable": "delta_class",
    "delta.DeltaTable": "delta_class",
    "pyspark.dbutils.DBUtils": "dbutils_class",
    "databricks.sdk.WorkspaceClient": "client_class",
    "pyspark.SparkContext": "context_class",
    "pyspark.context.SparkContext": "context_class",
}
"""Kinds of what is imported, by its full name."""

_CALLED = {"dbutils_class": "dbutils", "client_class": "client", "context_class": "context"}

_STEPS: dict[tuple[str, str], str] = {
    ("spark_class", "builder"): "builder",
    ("spark_class", "getActiveSession"): "spark",
    ("spark_class", "active"): "spark",
    ("builder", "getOrCreate"): "spark",
    ("builder", "create"): "spark",
    ("spark", "read"): "reader",
    ("spark", "readStream"): "stream_reader",
    ("spark", "sparkContext"): "context",
    ("spark", "catalog"): "catalog",
    ("spark", "conf"): "conf",
    ("spark", "streams"): "streams",
    ("spark", "udf"): "udf",
    ("spark", "newSession"): "spark",
    ("spark", "getActiveSession"): "spark",
    ("frame", "write"): "writer",
    ("frame", "writeStream"): "stream_writer",
    ("frame", "writeTo"): "writer_v2",
    ("frame", "rdd"): "rdd",
    ("frame", "sparkSession"): "spark",
    ("frame", "groupBy"): "grouped",
    ("frame", "groupby"): "grouped",
    ("grouped", "agg"): "frame",
    ("grouped", "count"): "frame",
    ("grouped", "pivot"): "grouped",
    ("grouped", "applyInPandas"): "frame",
    ("client", "dbutils"): "dbutils",
    ("lakehouse", "spark"): "spark",
    ("lakehouse", "seed"): "frame",
    **{("spark", name): "frame" for name in ("table", "sql", "createDataFrame", "range")},
    **{
        ("reader", name): "frame"
        for name in ("table", "load", "csv", "json", "parquet", "orc", "text", "xml", "jdbc")
    },
    **{("delta_class", name): "delta_table" for name in ("forName", "forPath", "convertToDelta")},
    **{
        ("delta_class", name): "delta_builder"
        for name in ("create", "createIfNotExists", "createOrReplace", "replace")
    },
    ("delta_table", "toDF"): "frame",
    ("delta_table", "history"): "frame",
    ("delta_builder", "execute"): "delta_table",
}
_STEPS |= {("stream_reader", step): kind for (of, step), kind in _STEPS.items() if of == "reader"}
# Their methods give them back.
_SAME = frozenset(
    ("builder", "reader", "stream_reader", "writer", "stream_writer", "writer_v2", "delta_builder")
)
_ENDS = frozenset(
    (
        *("collect", "count", "first", "head", "take", "tail", "show", "toPandas", "isEmpty", "schema"),
        *("columns", "dtypes", "printSchema", "isStreaming", "explain", "toLocalIterator", "storageLevel"),
    )
)
_FRAME_ONLY = frozenset(
    (
        *("withColumn", "withColumnRenamed", "withColumns", "selectExpr", "dropDuplicates", "unionByName"),
        *("createOrReplaceTempView", "createTempView", "createOrReplaceGlobalTempView", "toPandas"),
        *("createGlobalTempView", "withWatermark", "writeTo", "printSchema", "foreachPartition"),
    )
)
_FREE = {
    "sparkContext": "context",
    "readStream": "stream_reader",
    "writeStream": "stream_writer",
    "rdd": "rdd",
}
_SPARK_NAME = re.compile(r"_?spark(_?session)?")
_FRAME_NAME = re.compile(r"_?(s?df\d*|.+_s?df\d*|s?df_.+|.+D[fF]|data_?frame)")
_BY_NAME = {"dbutils": "dbutils", "lakehouse": "lakehouse", "sc": "context", "sqlContext": "spark"}
_BY_ANNOTATION = {
    "SparkSession": "spark",
    "DatabricksSession": "spark",
    "DataFrame": "frame",
    "SparkContext": "context",
    "DBUtils": "dbutils",
    "DeltaTable": "delta_table",
}


def named(name: str) -> str | None:
    """The kind that a name itself suggests: `spark`, `dbutils`, `orders_df`."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if _SPARK_NAME.fullmatch(name):
        return "spark"
    return "frame" if _FRAME_NAME.fullmatch(name) else None


def annotated(annotation: str) -> str | None:
    """The kind of a parameter or result with such an annotation."""
    return _BY_ANNOTATION.get(annotation.rpartition(".")[2])


def step(kind: str | None, name: str, *, called: bool) -> str | None:
    """The kind of `<kind>.name`, or of its result when called; an empty `name` calls the kind itself."""
    if not name:
        return _CALLED.get(kind or "", kind if kind in ("spark", "frame") else None)
    if kind is not None:
        known = _STEPS.get((kind, name))
        if known is not None:
            return known
        if kind in _SAME:
            return kind
        if kind == "frame":
            return None if name in _ENDS else "frame"
        return None
    if name in _FRAME_ONLY:
        return _STEPS.get(("frame", name), None if name in _ENDS else "frame")
    if called:
        return None
    return _FREE.get(name) or {"write": "writer", "read": "reader"}.get(name) or named(name)
