"""Auto Loader: `spark.readStream.format("cloudFiles")` on open-source Spark.

The imports are the public names; those of the block are loaded on first access. Importing this package does
not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.globs import require_closed_brackets
from lakeward.autoloader.file_source import FileSource
from lakeward.autoloader.json_column import JsonColumn, schema_location_key
from lakeward.autoloader.options.option_table import OPTIONS, READABLE_FORMATS, Option, find_option
from lakeward.autoloader.state.skipped_files import SkippedFiles
from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.autoloader.conversion.type_merging import merge_new_fields
    from lakeward.autoloader.error_translation import find_cloud_files_error
    from lakeward.autoloader.streams.checkpoint_state import cloud_files_state
    from lakeward.autoloader.table_functions import register_flow_checkpoints

__getattr__ = lazy_exports(__name__, __file__)


def install(spark: SparkSession) -> None:  # noqa: ARG001  # the signature of all `install`
    """Patch PySpark's readers and writers and register the SQL functions. Cheap and idempotent.

    `cloudFiles` is registered on first use: registering the first Python data source of a session makes Spark
    start a Python process to look for others, which costs a second.

    Databricks has its own Auto Loader; do not call this there.
    """
    from lakeward import patching
    from lakeward.autoloader.pyspark_patches import PATCHES
    from lakeward.autoloader.table_functions import register_table_functions

    patching.install(PATCHES)
    register_table_functions()
