"""`load`: from what the user wrote to a plan and a schema (auto-loader.md §2, §4.3, §5)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery import Globber, Names
from lakeward.autoloader.options import Options
from lakeward.autoloader.options.checks import evolution_mode
from lakeward.autoloader.plan import PLAN_OPTION, ReadPlan, lister_of
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema import Resolved

__all__ = ["RESCUED", "columns_of", "define", "plan_of"]

RESCUED = "_rescued_data"
_RESCUING = ("json", "csv", "parquet", "avro", "xml")


def define(
    spark: SparkSession,
    *,
    path: str | None,
    given: Mapping[str, str],
    schema: StructType | None,
    names: Names,
    rendezvous: Path,
) -> tuple[ReadPlan, StructType]:
    """The plan and the columns that the user sees, in order.

    `given` are the user's options, `schema` what `.schema(…)` was called with. Raises CloudFilesError.
    """
    from lakeward.autoloader.schema import resolve

    options = Options.of(
        {key: value for key, value in given.items() if key.lower() not in ("path", PLAN_OPTION)}
    )
    source = names.local(_required(path, options, has_schema=schema is not None))
    location = options.text("cloudFiles.schemaLocation")
    resolved = resolve(
        spark,
        options,
        lister_of(source, names, options),
        given=schema,
        location=names.local(location) if location else None,
    )
    rescued = _rescued(options, given_schema=schema is not None)
    plan = plan_of(
        spark, options, names, source, resolved, rescued=rescued, given=schema, rendezvous=rendezvous
    )
    return plan, columns_of(resolved, plan.rescued, schema)


def plan_of(
    spark: SparkSession,
    options: Options,
    names: Names,
    source: str,
    resolved: Resolved,
    *,
    rescued: str | None,
    given: StructType | None,
    rendezvous: Path,
) -> ReadPlan:
    """The plan of a source whose columns are known; `rescued` counts only for formats that can rescue."""
    conf = spark.conf
    return ReadPlan(
        token=uuid.uuid4().hex,
        rendezvous=str(rendezvous),
        source=source,
        shown_source=names.key(Globber(source).root),
        paths=names.path_map.entries,
        format=options.format,
        columns=json.dumps(resolved.data.jsonValue()),
        mode=resolved.mode,
        rescued=rescued if options.format in _RESCUING else None,
        rescue_path=conf.get("spark.databricks.sql.rescuedDataColumn.filePath.enabled", "true") != "false",
        corrupt=_corrupt(options, resolved.data),
        partitions=tuple(resolved.partitions.names),
        schema_location=resolved.location,
        given_schema=given is not None,
        infer_types=options.infer_types,
        case_sensitive=options.flag("readerCaseSensitive"),
        time_zone=options.text("timeZone") or str(conf.get("spark.sql.session.timeZone")),
        parallelism=spark._jsparkSession.sparkContext().defaultParallelism(),
        options=options.without_secrets().given,
    )


def _required(path: str | None, options: Options, *, has_schema: bool) -> str:
    if path:
        return path
    queues = ("cloudFiles.queueUrl", "cloudFiles.queueName", "cloudFiles.subscription")
    if any(map(options.is_set, queues)) and not has_schema:
        raise CloudFilesError(
            "CF_MISSING_SCHEMA_IN_PATHLESS_MODE",
            "cloudFiles was loaded from a queue without a path and without a schema.",
            next_step="Name the folder in load(path): files are found by listing it, here as well.",
        )
    raise CloudFilesError(
        "CF_MISSING_PATH",
        "cloudFiles was loaded without a path"
        + (", from a queue" if any(map(options.is_set, queues)) else "")
        + ".",
        next_step="Name the folder in load(path): files are found by listing it.",
    )


def _rescued(options: Options, *, given_schema: bool) -> str | None:
    """§4.3: always with an inferred schema; with a given one when named, or in mode `rescue`."""
    named = options.rescued_column
    if not given_schema:
        return named or RESCUED
    if named or evolution_mode(options, given_schema=True) == "rescue":
        return named or RESCUED
    return None


def _corrupt(options: Options, data: StructType) -> str | None:
    name = options.text("columnNameOfCorruptRecord")
    return name if name in data.names else None


def columns_of(resolved: Resolved, rescued: str | None, given: StructType | None) -> StructType:
    """What the user sees. A given schema keeps its order, also when it lists the rescued column itself."""
    from pyspark.sql.types import StringType, StructType

    data, partitions = resolved.data, resolved.partitions
    columns = list(given.fields) if given is not None else [*data.fields, *partitions.fields]
    if rescued is not None and rescued not in {field.name for field in columns}:
        position = len(data.fields) if given is None else len(columns)
        columns.insert(position, StructType().add(rescued, StringType()).fields[0])
    return StructType(columns)
