"""Seeds: tables that code expects, created from files, rows, or a workspace's own tables.

The imports are the public names; those of the block are loaded on first access. Importing this package does
not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports
from lakeward.seeds.declarations import declared_seeds
from lakeward.seeds.files import kind_of, require_ddl
from lakeward.seeds.hints import current_schema_of, missing_table, missing_tables, seed_hint
from lakeward.seeds.names import TableName
from lakeward.seeds.pull import client, pull

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.seeds.frames import frame_of_rows
    from lakeward.seeds.tables import seed_files, seed_frame

__getattr__ = lazy_exports(__name__, __file__)


def install(spark: SparkSession) -> None:
    """Resolve missing tables to declared seeds, and add hints to errors about other missing tables."""
    from lakeward import patching
    from lakeward.seeds.missing import PATCHES, reserve_names

    patching.install(PATCHES)
    reserve_names(spark)
