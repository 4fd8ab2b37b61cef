"""`_metadata` as Spark's own file source has it: hidden from `*`, there when it is named (§5.1).

Readers give it as one text a row, or null where no one looks at it: six columns of facts on the file cost
more than the rows of many files themselves. The query takes the text apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery import FileStatus, Names
from lakeward.autoloader.plan import METADATA

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField

__all__ = ["described", "hide_metadata", "looks_at_metadata", "raw_metadata"]

# No name of a file holds it.
_SEPARATOR = "\0"


def raw_metadata() -> StructField:
    """The column as readers give it."""
    from pyspark.sql.types import StringType, StructField

    return StructField(METADATA, StringType())


def described(status: FileStatus) -> str:
    """A file in the text from which `_struct` makes the column."""
    name = status.key.rpartition("/")[2]
    return _SEPARATOR.join((Names.shown(status.key), name, str(status.size), str(status.mtime)))


def _struct() -> Column:
    from pyspark.sql import functions as F

    path, name, size, modified = (F.split(METADATA, _SEPARATOR)[index] for index in range(4))
    return F.struct(
        path.alias("file_path"),
        name.alias("file_name"),
        size.cast("bigint").alias("file_size"),
        F.lit(0).cast("bigint").alias("file_block_start"),
        size.cast("bigint").alias("file_block_length"),
        F.timestamp_micros(modified.cast("bigint")).alias("file_modification_time"),
    )


def hide_metadata(raw: DataFrame, columns: list[str]) -> DataFrame:
    """`raw` without its last column, `_metadata`, which stays resolvable as a hidden column."""
    quoted = [f"`{name.replace('`', '``')}`" for name in columns]
    marked = raw.select(*quoted, _struct().alias(METADATA, metadata={"__metadata_col": True}))
    shown = marked.select(*quoted)
    jvm: Any = raw.sparkSession._jvm
    attribute = marked._jdf.queryExecution().analyzed().output().last()
    project = getattr(getattr(jvm.org.apache.spark.sql.catalyst.plans.logical, "Project$"), "MODULE$")
    attributes = jvm.org.apache.spark.api.python.PythonUtils.toSeq([attribute])
    shown._jdf.queryExecution().analyzed().setTagValue(project.hiddenOutputTag(), attributes)
    return shown


def looks_at_metadata(df: DataFrame) -> bool:
    """Whether something in the query refers to a `_metadata` that `hide_metadata` has made."""
    hidden, others = [], []
    for node in _nodes(df._jdf.queryExecution().analyzed()):
        if node.nodeName() == "Project" and _is_source(node.child()):
            hidden.append(node.output().last())
        else:
            others.append(node)
    return any(node.references().contains(attribute) for node in others for attribute in hidden)


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from _nodes(children.apply(index))


def _is_source(plan: Any) -> bool:
    return bool(plan.isStreaming()) and plan.children().isEmpty()
