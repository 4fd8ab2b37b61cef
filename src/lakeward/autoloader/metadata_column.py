"""The hidden `_metadata` column, as in Spark's own file source (AL-5.1).

Readers emit it as one string per row, or as null if the query does not reference it: six struct columns cost
more than the rows of many files. The query parses the string.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery import FileNames, FileStatus
from lakeward.autoloader.read_plan import METADATA
from lakeward.quoting import quote_identifier
from lakeward.spark_internals import analyzed_plan, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField

# Not allowed in file names.
_SEPARATOR = "\0"


def raw_metadata_field() -> StructField:
    """Return the column that readers emit."""
    from pyspark.sql.types import StringType, StructField

    return StructField(METADATA, StringType())


def encode_file_metadata(status: FileStatus) -> str:
    """Encode a file as the string that `_metadata_struct` parses."""
    name = status.key.rpartition("/")[2]
    return _SEPARATOR.join((FileNames.encode(status.key), name, str(status.size), str(status.mtime)))


def _metadata_struct() -> Column:
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
    """Turn the last column, `_metadata`, into a hidden column that stays resolvable."""
    quoted = [quote_identifier(name) for name in columns]
    marked = raw.select(*quoted, _metadata_struct().alias(METADATA, metadata={"__metadata_col": True}))
    shown = marked.select(*quoted)
    jvm: Any = jvm_view(raw.sparkSession)
    attribute = analyzed_plan(marked).output().last()
    project = getattr(getattr(jvm.org.apache.spark.sql.catalyst.plans.logical, "Project$"), "MODULE$")
    attributes = jvm.org.apache.spark.api.python.PythonUtils.toSeq([attribute])
    analyzed_plan(shown).setTagValue(project.hiddenOutputTag(), attributes)
    return shown


def references_metadata(df: DataFrame) -> bool:
    """Return whether the query references a `_metadata` column made by `hide_metadata`."""
    hidden, others = [], []
    for node in _plan_nodes(analyzed_plan(df)):
        if node.nodeName() == "Project" and _is_source(node.child()):
            hidden.append(node.output().last())
        else:
            others.append(node)
    return any(node.references().contains(attribute) for node in others for attribute in hidden)


def _plan_nodes(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from _plan_nodes(children.apply(index))


def _is_source(plan: Any) -> bool:
    return bool(plan.isStreaming()) and plan.children().isEmpty()
