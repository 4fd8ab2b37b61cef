"""Auto Loader: `spark.readStream.format("cloudFiles")` on open-source Spark.

Importing this room does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.autoloader.batch import FileSource, Rescue
from lakeward.autoloader.discovery import FileStatus
from lakeward.autoloader.options import OPTIONS, READABLE, Option, declared
from lakeward.autoloader.state import Skips

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "OPTIONS",
    "READABLE",
    "FileSource",
    "FileStatus",
    "Option",
    "Rescue",
    "Skips",
    "cloud_files_state",
    "declared",
    "install",
]


def install(spark: SparkSession) -> None:
    """Register the `cloudFiles` format in a session and patch PySpark's readers and writers once.

    Cheap and idempotent. On Databricks it must not be called: the platform has its own.
    """
    from lakeward.autoloader.hooks import install as install_hooks
    from lakeward.autoloader.table_functions import serve_functions

    install_hooks(spark)
    serve_functions()


def cloud_files_state(spark: SparkSession, checkpoint: str) -> DataFrame:
    """What a stream's checkpoint knows of each file, with the columns of Databricks' `cloud_files_state`.

    `checkpoint` is a path as in `checkpointLocation`, or a source's folder in it. Raises
    CF_STATE_PATH_DOES_NOT_EXIST where there is none of an Auto Loader stream.
    """
    from lakeward.autoloader.checkpoints import cloud_files_state as rows

    return rows(spark, checkpoint)
