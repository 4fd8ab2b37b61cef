"""Reading files through a format's reader alone, without Spark: what a worker does."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from lakeward.autoloader.discovery import FileStatus
from lakeward.autoloader.options import Options
from lakeward.autoloader.options.checks import evolution_mode
from lakeward.autoloader.plan import ReadPlan
from lakeward.autoloader.readers import read


def schema_of(**columns: str) -> StructType:
    """Columns by name, types as Spark's JSON schema names them (`integer`, `string`, `decimal(10,2)`)."""
    schema = StructType()
    for name, dtype in columns.items():
        schema = schema.add(name, dtype)
    return schema


def plan_of(
    data: StructType, *, rescued: str | None = None, inferred: bool = False, **options: Any
) -> ReadPlan:
    """A plan for local files without a path map."""
    given = {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()
    }
    parsed = Options.of({"cloudFiles.format": "json", **{_key(key): value for key, value in given.items()}})
    corrupt = parsed.text("columnNameOfCorruptRecord")
    return ReadPlan(
        token="t",
        rendezvous="",
        source="/",
        shown_source="file:/",
        paths=(),
        format=parsed.format,
        columns=json.dumps(data.jsonValue()),
        mode=evolution_mode(parsed, given_schema=not inferred),
        rescued=rescued,
        corrupt=corrupt if corrupt in data.names else None,
        given_schema=not inferred,
        infer_types=parsed.infer_types,
        case_sensitive=parsed.flag("readerCaseSensitive"),
        time_zone=parsed.text("timeZone") or "UTC",
        options=dict(parsed.given),
    )


def rows_of(files: list[Path], data: StructType, **options: Any) -> list[dict[str, Any]]:
    """All rows, columns by name; the rescued column is in them when it is asked for."""
    plan = plan_of(data, **options)
    full = StructType(list(data.fields))
    if plan.rescued:
        full = StructType([*full.fields, StructField(plan.rescued, StringType())])
    statuses = [
        FileStatus(f"file:{path}", str(path), path.stat().st_size, path.stat().st_mtime_ns // 1000)
        for path in files
    ]
    return [row for batch in read(plan, full, statuses, ("", 0, 0)) for row in batch.to_pylist()]


def both_ways(
    plain: ModuleType, path: Path, data: StructType, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of a file that `plain` may read whole, and those of the same file where it may not."""
    monkeypatch.setattr(plain, "SMALLEST", 0)
    whole = rows_of([path], data, **options)
    monkeypatch.setattr(plain, "SMALLEST", 1 << 40)
    return whole, rows_of([path], data, **options)


def _key(name: str) -> str:
    return f"cloudFiles.{name[3:]}" if name.startswith("cf_") else name
