"""Partition columns of the paths of files (AL-5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.types import StructField, StructType

from lakeward.autoloader.discovery.file_listing import parse_partition_values, partition_value
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.schema.partition_inference import infer_partition_type
from lakeward.errors import CloudFilesError


def infer_partition_schema(
    below: Sequence[str], options: Options, user_schema: StructType | None
) -> StructType:
    """Return the partition columns of files with these relative paths.

    With a user schema these are its columns that are partition keys, in any case of their names. Files with
    different layouts have none.
    """
    configured = options.value("cloudFiles.partitionColumns")
    if configured is not None:
        names = list(configured)
    elif options.flag("recursiveFileLookup"):
        names = []
    else:
        layouts = {tuple(parse_partition_values(path)) for path in below}
        names = list(layouts.pop()) if len(layouts) == 1 else []
    if user_schema is not None:
        known = {name.lower() for name in user_schema.names}
        if missing := [name for name in configured or () if name.lower() not in known]:
            raise CloudFilesError(
                "CF_MISSING_PARTITION_COLUMN_ERROR",
                f"Partition column {missing[0]} of cloudFiles.partitionColumns is not in the schema: "
                f"{', '.join(user_schema.names)}.",
                next_step="Add it to the schema, or remove it from cloudFiles.partitionColumns.",
            )
        in_paths = {name.lower() for name in names}
        return StructType([field for field in user_schema.fields if field.name.lower() in in_paths])
    return StructType(
        [
            StructField(name, infer_partition_type(partition_value(path, name) for path in below))
            for name in names
        ]
    )
