"""`load`: from the user's path, options and schema to a read plan and columns (AL-2, AL-4.3, AL-5)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery import FileNames, Globber
from lakeward.autoloader.options import Options
from lakeward.autoloader.options.validation import evolution_mode
from lakeward.autoloader.read_plan import PLAN_OPTION, ReadPlan, create_lister
from lakeward.errors import CloudFilesError
from lakeward.spark_internals import java_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema import ResolvedSchema

RESCUED_COLUMN = "_rescued_data"
_FORMATS_WITH_RESCUE = ("json", "csv", "parquet", "avro", "xml")


def define_stream(
    spark: SparkSession,
    *,
    path: str | None,
    user_options: Mapping[str, str],
    user_schema: StructType | None,
    names: FileNames,
    handoff_dir: Path,
) -> tuple[ReadPlan, StructType]:
    """Return the read plan and the visible columns in order; raise CloudFilesError.

    Args:
        spark: The session.
        path: The path of `load`.
        user_options: The user's options.
        user_schema: The schema of `.schema(…)`.
        names: File names of the lakehouse.
        handoff_dir: Directory of the checkpoint handoff.
    """
    from lakeward.autoloader.schema import resolve_schema

    options = Options.of(
        {key: value for key, value in user_options.items() if key.lower() not in ("path", PLAN_OPTION)}
    )
    source = names.local(_require_path(path, options, has_schema=user_schema is not None))
    location = options.text("cloudFiles.schemaLocation")
    resolved = resolve_schema(
        spark,
        options,
        create_lister(source, names, options),
        user_schema=user_schema,
        location=names.local(location) if location else None,
    )
    rescued = _rescued_column(options, has_user_schema=user_schema is not None)
    plan = create_read_plan(
        spark,
        options,
        names,
        source,
        resolved,
        rescued=rescued,
        user_schema=user_schema,
        handoff_dir=handoff_dir,
    )
    return plan, output_columns(resolved, plan.rescued, user_schema)


def create_read_plan(
    spark: SparkSession,
    options: Options,
    names: FileNames,
    source: str,
    resolved: ResolvedSchema,
    *,
    rescued: str | None,
    user_schema: StructType | None,
    handoff_dir: Path,
) -> ReadPlan:
    """Create the plan of a source with resolved columns.

    Args:
        spark: The session.
        options: The options of the source.
        names: File names of the lakehouse.
        source: Local path or URI.
        resolved: The resolved columns.
        rescued: The rescued data column; ignored for formats without one.
        user_schema: The user's schema.
        handoff_dir: Directory of the checkpoint handoff.
    """
    conf = spark.conf
    return ReadPlan(
        token=uuid.uuid4().hex,
        handoff_dir=str(handoff_dir),
        source=source,
        source_key=names.key(Globber(source).root),
        paths=names.path_map.entries,
        format=options.format,
        columns=json.dumps(resolved.data.jsonValue()),
        mode=resolved.mode,
        rescued=rescued if options.format in _FORMATS_WITH_RESCUE else None,
        rescue_path=conf.get("spark.databricks.sql.rescuedDataColumn.filePath.enabled", "true") != "false",
        corrupt=_corrupt_column(options, resolved.data),
        partitions=tuple(resolved.partitions.names),
        schema_location=resolved.location,
        has_user_schema=user_schema is not None,
        infer_types=options.infer_types,
        case_sensitive=options.flag("readerCaseSensitive"),
        time_zone=options.text("timeZone") or str(conf.get("spark.sql.session.timeZone")),
        parallelism=java_session(spark).sparkContext().defaultParallelism(),
        options=options.without_secrets().raw,
    )


def _require_path(path: str | None, options: Options, *, has_schema: bool) -> str:
    if path:
        return path
    queues = ("cloudFiles.queueUrl", "cloudFiles.queueName", "cloudFiles.subscription")
    if any(map(options.is_set, queues)) and not has_schema:
        raise CloudFilesError(
            "CF_MISSING_SCHEMA_IN_PATHLESS_MODE",
            "cloudFiles was loaded from a queue without a path and without a schema.",
            next_step="Set the directory in load(path); files are discovered by listing it.",
        )
    raise CloudFilesError(
        "CF_MISSING_PATH",
        "cloudFiles was loaded without a path"
        + (", from a queue" if any(map(options.is_set, queues)) else "")
        + ".",
        next_step="Set the directory in load(path); files are discovered by listing it.",
    )


def _rescued_column(options: Options, *, has_user_schema: bool) -> str | None:
    """Return the rescued column: for inferred schemas, if named, and in mode `rescue` (AL-4.3)."""
    named = options.rescued_column
    if not has_user_schema:
        return named or RESCUED_COLUMN
    if named or evolution_mode(options, has_user_schema=True) == "rescue":
        return named or RESCUED_COLUMN
    return None


def _corrupt_column(options: Options, data: StructType) -> str | None:
    name = options.text("columnNameOfCorruptRecord")
    return name if name in data.names else None


def output_columns(
    resolved: ResolvedSchema, rescued: str | None, user_schema: StructType | None
) -> StructType:
    """Return the visible columns. A user schema keeps its order, also of the rescued column."""
    from pyspark.sql.types import StringType, StructType

    data, partitions = resolved.data, resolved.partitions
    columns = list(user_schema.fields) if user_schema is not None else [*data.fields, *partitions.fields]
    if rescued is not None and rescued not in {field.name for field in columns}:
        position = len(data.fields) if user_schema is None else len(columns)
        columns.insert(position, StructType().add(rescued, StringType()).fields[0])
    return StructType(columns)
