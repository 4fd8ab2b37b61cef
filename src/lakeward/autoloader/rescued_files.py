"""`rescuedDataColumn` and `badRecordsPath` of `spark.read` and `spark.readStream`; Spark has neither.

Sources: https://docs.databricks.com/aws/en/ingestion/bad-records and
https://docs.databricks.com/aws/en/query/formats/csv
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from lakeward.autoloader.file_source import FileSource
from lakeward.autoloader.options.option_table import PREFIX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Paths are matched as by Spark's readers.
_DEFAULTS = {"header": "false", PREFIX + "useStrictGlobber": "true"}


def read_rescued_files(
    spark: SparkSession,
    *,
    format: str,
    paths: Sequence[str],
    options: Mapping[str, str],
    schema: str,
    is_streaming: bool,
) -> DataFrame:
    """Return the rows of files, with the rescued data column if the options name one.

    Args:
        spark: The session.
        format: The format of the files.
        paths: Their paths, as in `load`; without any, the option `path` names one.
        options: The options of the reader, with keys in lower case.
        schema: The columns as JSON: those of the reader's schema, or those that Spark inferred.
        is_streaming: Whether the reader is that of a stream.

    Raises:
        CloudFilesError: An option has a wrong value.
    """
    from pyspark.sql.types import StructType

    columns = StructType.fromJson(json.loads(schema))
    given = {**_DEFAULTS, **options, PREFIX + "format": format}
    path = given.pop("path", None)
    sources = list(paths) or [str(path)]
    if is_streaming:
        return spark.readStream.format("cloudFiles").options(**given).schema(columns).load(sources[0])
    rescued = options.get("rescueddatacolumn") or None
    return _read(spark, [FileSource.of(each, given) for each in sources], columns, rescued)


def _read(
    spark: SparkSession, sources: Sequence[FileSource], columns: StructType, rescued: str | None
) -> DataFrame:
    files = [source.files() for source in sources]
    matched = [
        source.match_columns(each, columns, rescued) for source, each in zip(sources, files, strict=True)
    ]
    partitions = {name for each in matched for name in each.partitions.names}
    shown = _with_rescued_column(columns, rescued, partitions)
    if not partitions:
        every = [status for each in files for status in each]
        return sources[0].frame(spark, every, matched[0], rescued=rescued, user_schema=shown)
    frames = [
        source.frame(spark, each, resolved, rescued=rescued, user_schema=shown)
        for source, each, resolved in zip(sources, files, matched, strict=True)
    ]
    return reduce(lambda first, second: first.union(second), frames)


def _with_rescued_column(columns: StructType, rescued: str | None, partitions: set[str]) -> StructType:
    """Insert the rescued data column before the partition columns, which Spark has at the end."""
    from pyspark.sql.types import StringType, StructField, StructType

    fields = list(columns.fields)
    if rescued is None or rescued in columns.names:
        return columns
    end = len(fields)
    while end and fields[end - 1].name in partitions:
        end -= 1
    fields.insert(end, StructField(rescued, StringType()))
    return StructType(fields)
