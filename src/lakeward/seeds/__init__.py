"""Seeds: tables that code expects, created from files, rows, or a workspace's own tables.

Importing this package does not import pyspark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.seeds.declarations import DeclaredSeed, declared_seeds
from lakeward.seeds.files import kind_of, require_ddl
from lakeward.seeds.hints import missing_table, seed_hint
from lakeward.seeds.names import TableName
from lakeward.seeds.pull import client, pull

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = [
    "DeclaredSeed",
    "TableName",
    "client",
    "declared_seeds",
    "frame_of_rows",
    "install",
    "kind_of",
    "missing_table",
    "pull",
    "require_ddl",
    "seed_files",
    "seed_frame",
    "seed_hint",
]


def install(spark: SparkSession) -> None:
    """Resolve missing tables to declared seeds, and add hints to errors about other missing tables."""
    from lakeward import patching
    from lakeward.seeds.missing import PATCHES, reserve_names

    patching.install(PATCHES)
    reserve_names(spark)


def seed_files(spark: SparkSession, name: TableName, source: Path, ddl: Path | None = None) -> int:
    """Create the table `name` from a file or folder, with the schema in `ddl` if given.

    Returns the number of rows. An existing table is replaced in one commit. Raises SeedError before any table
    is changed.
    """
    from lakeward.seeds.frames import from_files
    from lakeward.seeds.tables import write

    write(spark, name, from_files(spark, source, ddl))
    return spark.table(name.quoted).count()


def frame_of_rows(
    spark: SparkSession,
    rows: Iterable[Mapping[str, Any] | Sequence[Any]],
    schema: StructType | str | None,
) -> DataFrame:
    """Return a DataFrame of dicts, or of tuples with a schema. Raises SeedError for rows that do not fit."""
    from lakeward.seeds.frames import from_rows

    return from_rows(spark, rows, schema)


def seed_frame(spark: SparkSession, name: TableName, frame: DataFrame) -> None:
    """Create the table `name` from a DataFrame; replace an existing one in one commit."""
    from lakeward.seeds.tables import write

    write(spark, name, frame)
