"""Runs a format's reader without Spark, as a worker does."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql.types import StringType, StructField, StructType

from lakeward.autoloader.data_sources import read_batch_files
from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.options.schema_options import evolution_mode
from lakeward.autoloader.read_plan import ReadPlan


def schema_of(**columns: str) -> StructType:
    """Return a schema with types as in Spark's JSON schema (`integer`, `string`, `decimal(10,2)`)."""
    schema = StructType()
    for name, dtype in columns.items():
        schema = schema.add(name, dtype)
    return schema


def plan_of(
    data: StructType, *, rescued: str | None = None, inferred: bool = False, **options: Any
) -> ReadPlan:
    """Return a plan for local files without a path map."""
    given = {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()
    }
    parsed = Options.of({"cloudFiles.format": "json", **{_key(key): value for key, value in given.items()}})
    corrupt = parsed.text("columnNameOfCorruptRecord")
    return ReadPlan(
        token="t",
        handoff_dir="",
        source="/",
        source_key="file:/",
        paths=(),
        format=parsed.format,
        columns=json.dumps(data.jsonValue()),
        mode=evolution_mode(parsed, has_user_schema=not inferred),
        rescued=rescued,
        corrupt=corrupt if corrupt in data.names else None,
        has_user_schema=not inferred,
        infer_types=parsed.infer_types,
        case_sensitive=parsed.flag("readerCaseSensitive"),
        time_zone=parsed.text("timeZone") or "UTC",
        options=dict(parsed.raw),
    )


def rows_of(files: list[Path], data: StructType, **options: Any) -> list[dict[str, Any]]:
    """Return all rows as dictionaries, with the rescued column if the plan has one."""
    plan = plan_of(data, **options)
    full = StructType(list(data.fields))
    if plan.rescued:
        full = StructType([*full.fields, StructField(plan.rescued, StringType())])
    statuses = [
        FileStatus(f"file:{path}", str(path), path.stat().st_size, path.stat().st_mtime_ns // 1000)
        for path in files
    ]
    return [row for batch in read_batch_files(plan, full, statuses, ("", 0, 0)) for row in batch.to_pylist()]


def comparable(value: Any) -> Any:
    """Return a value as text without zones, records by their fields, and maps as their pairs."""
    if isinstance(value, Row):
        value = value.asDict()
    if isinstance(value, list) and value and {type(item) for item in value} == {tuple}:
        # Arrow has a map as pairs; a record is a tuple of another type.
        value = dict(value)
    if isinstance(value, dict):
        return sorted((key, comparable(item)) for key, item in value.items())
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, bytearray):
        value = bytes(value)
    return repr(value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value)


def both_ways(
    plain: ModuleType, path: Path, data: StructType, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of a file with and without the fast path of module `plain`."""
    monkeypatch.setattr(plain, "MIN_BYTES", 0)
    whole = rows_of([path], data, **options)
    monkeypatch.setattr(plain, "MIN_BYTES", 1 << 40)
    return whole, rows_of([path], data, **options)


def _key(name: str) -> str:
    return f"cloudFiles.{name[3:]}" if name.startswith("cf_") else name
