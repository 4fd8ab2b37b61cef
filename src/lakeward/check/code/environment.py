"""What the names of a file mean at the place that is being looked at: imports, constants, kinds."""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from dataclasses import dataclass, field

from lakeward.check.code.chains import Link, unroll
from lakeward.check.values import Text, text_of

_CLASSES = {
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


@dataclass
class Environment:
    """Grows while the file is read from top to bottom; functions open and leave a scope of their own.

    `origins` says what a name was imported from, in full (`dp` → `pyspark.pipelines`).
    """

    origins: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    constants: ChainMap[str, Text | None] = field(default_factory=ChainMap)
    kinds: ChainMap[str, str | None] = field(default_factory=ChainMap)

    def enter(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """Open the scope of a function; its parameters hide what had their names."""
        self.constants, self.kinds = self.constants.new_child(), self.kinds.new_child()
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self.constants[each.arg] = None
            self.kinds[each.arg] = (
                _annotated(_dotted(each.annotation)) if each.annotation else None
            ) or _named(each.arg)

    def leave(self) -> None:
        """Close the innermost scope."""
        self.constants, self.kinds = self.constants.parents, self.kinds.parents

    def note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Note what an import binds."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                self.origins[bound] = alias.name if alias.asname else bound
            return
        for alias in node.names:
            if node.level or node.module is None:
                continue
            if alias.name == "*":
                self.stars.append(node.module)
            else:
                self.origins[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def note_assignment(self, target: ast.expr, value: ast.expr | None, *, more: bool = False) -> None:
        """Note what a name holds from here on; `more` appends (`+=`)."""
        if isinstance(target, ast.Attribute):
            name = target.attr
        elif isinstance(target, ast.Name):
            name = target.id
        else:
            return
        text = text_of(value, self.constants)
        known = self.constants.get(name)
        if more and known is not None and text is not None:
            text = Text(known.value + text.value, known.line, known.column, known.lines)
        if text is not None:
            self.constants[name] = text
        elif name in self.constants:
            self.constants[name] = None
        if isinstance(target, ast.Name) and not more:
            self.kinds[name] = (self.kind(value) if value is not None else None) or _named(name)

    def note_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Note what a function of the file returns."""
        kind = _annotated(_dotted(function.returns)) if function.returns else None
        self.kinds[function.name] = kind

    def kind(self, node: ast.expr) -> str | None:
        """Return the kind of an expression, None if unknown."""
        root, links, _ = unroll(node)
        return self.kinds_along(root, links)[-1]

    def kinds_along(self, root: ast.expr, links: list[Link]) -> list[str | None]:
        """Return the kind of the root of a chain, then the kind after each of its steps."""
        kind = self.name_kind(root.id) if isinstance(root, ast.Name) else None
        full = self.origins.get(root.id, "") if isinstance(root, ast.Name) else ""
        found = [kind]
        for link in links:
            full = f"{full}.{link.name}" if full and link.name else ""
            kind = _CLASSES.get(full) or step(kind, link.name, called=link.call is not None)
            if full in _CLASSES and link.call is not None:
                kind = step(kind, "", called=True)
            found.append(kind)
        return found

    def name_kind(self, name: str) -> str | None:
        """Return the kind of a plain name; imported ones are what they were imported as."""
        if name in self.kinds:
            return self.kinds[name]
        origin = self.origins.get(name)
        if origin is not None:
            return _CLASSES.get(origin) or _named(origin.rpartition(".")[2])
        return _named(name)


def _dotted(node: ast.expr | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.BinOp):  # SparkSession | None
        return _dotted(node.left)
    if isinstance(node, ast.Subscript):  # Optional[SparkSession]
        return _dotted(node.slice)
    return ""


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


def _named(name: str) -> str | None:
    """Return the kind that a name itself suggests: `spark`, `dbutils`, `orders_df`."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if _SPARK_NAME.fullmatch(name):
        return "spark"
    return "frame" if _FRAME_NAME.fullmatch(name) else None


def _annotated(annotation: str) -> str | None:
    """Return the kind of a parameter or result with such an annotation."""
    return _BY_ANNOTATION.get(annotation.rpartition(".")[2])


def step(kind: str | None, name: str, *, called: bool) -> str | None:
    """Return the kind of `<kind>.name`, or of its result if called; an empty `name` calls the kind itself."""
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
    return _FREE.get(name) or {"write": "writer", "read": "reader"}.get(name) or _named(name)
