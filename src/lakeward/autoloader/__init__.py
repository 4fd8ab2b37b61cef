"""Auto Loader: `spark.readStream.format("cloudFiles")` on open-source Spark.

Importing this package does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward import patching
from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.file_source import FileSource
from lakeward.autoloader.json_column import JsonColumn, schema_location_key
from lakeward.autoloader.options.option_table import OPTIONS, Option, find_option
from lakeward.autoloader.options.option_values import READABLE_FORMATS
from lakeward.autoloader.state import SkippedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeward.errors import CloudFilesError

__all__ = [
    "OPTIONS",
    "READABLE_FORMATS",
    "FileSource",
    "FileStatus",
    "JsonColumn",
    "Option",
    "SkippedFiles",
    "batch_condition",
    "cloud_files_state",
    "find_cloud_files_error",
    "find_option",
    "install",
    "merge_new_fields",
    "schema_location_key",
]


def install(spark: SparkSession) -> None:  # noqa: ARG001  # the signature of all `install`
    """Patch PySpark's readers and writers and register the SQL functions. Cheap and idempotent.

    `cloudFiles` is registered on first use: registering the first Python data source of a session makes Spark
    start a Python process to look for others, which costs a second.

    Databricks has its own Auto Loader; do not call this there.
    """
    from lakeward.autoloader.pyspark_patches import PATCHES
    from lakeward.autoloader.table_functions import register_table_functions

    patching.install(PATCHES)
    register_table_functions()


def cloud_files_state(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Return the state of each file of a stream, with the columns of `cloud_files_state`.

    `checkpoint` is a path as in `checkpointLocation`, or a source's directory in it. Raises
    CF_STATE_PATH_DOES_NOT_EXIST if it has no state of an Auto Loader stream.
    """
    from lakeward.autoloader.streams.checkpoint_state import cloud_files_state as rows

    return rows(spark, checkpoint)


def find_cloud_files_error(error: BaseException) -> CloudFilesError | None:
    """Return the Auto Loader error of a worker inside a Spark exception, or None."""
    from lakeward.autoloader.error_translation import find_cloud_files_error as find

    return find(error)


def merge_new_fields(stored: StructType, other: StructType) -> StructType:
    """Append the new columns and nested fields of `other`; stored ones keep position and type."""
    from lakeward.autoloader.conversion.type_merging import merge_new_fields as merge

    return merge(stored, other, widen=False)


def batch_condition(condition: str) -> str:
    """Return what Spark calls a condition of Auto Loader's readers in a batch."""
    from lakeward.autoloader.error_translation import batch_condition as spark_name

    return spark_name(condition)
