"""Auto Loader: `spark.readStream.format("cloudFiles")` on open-source Spark.

Importing this room does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.autoloader.options import OPTIONS, READABLE, Option, declared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OPTIONS", "READABLE", "Option", "declared", "install"]


def install(spark: SparkSession) -> None:
    """Register the `cloudFiles` format in a session and patch PySpark's readers and writers once.

    Cheap and idempotent. On Databricks it must not be called: the platform has its own.
    """
    from lakeward.autoloader.hooks import install as install_hooks

    install_hooks(spark)
