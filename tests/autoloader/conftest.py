"""A landing directory, and streams from it into Delta tables."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Landing:
    """Files arrive here; `ingest` loads new ones into a table with one availableNow run."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder / "landing"
        self.folder.mkdir()
        self.checkpoint = folder / "checkpoint"
        self.schemas = folder / "schemas"
        self.table = f"main.default.t_{uuid.uuid4().hex[:8]}"

    def put(self, name: str, *records: Any, text: str | None = None) -> Path:
        """Write a file of JSON lines, or of a text."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        path.write_text(lines if text is None else text)
        return path

    def stream(self, schema: Any = None, path: Path | str | None = None, **options: Any) -> DataFrame:
        """Define the source; option names with `cf_` get the prefix `cloudFiles.`."""
        reader = self.spark.readStream.format("cloudFiles").option(
            "cloudFiles.format", options.pop("format", "json")
        )
        for key, value in options.items():
            reader = reader.option(f"cloudFiles.{key[3:]}" if key.startswith("cf_") else key, value)
        if schema is not None:
            reader = reader.schema(schema)
        elif "cf_schemaLocation" not in options:
            reader = reader.option("cloudFiles.schemaLocation", str(self.schemas))
        return reader.load(str(path or self.folder))

    def ingest(self, df: DataFrame) -> int:
        """Run to completion and return the number of batches with rows."""
        query = (
            df.writeStream.option("checkpointLocation", str(self.checkpoint))
            .option("mergeSchema", "true")
            .trigger(availableNow=True)
            .toTable(self.table)
        )
        query.awaitTermination()
        return sum(progress.numInputRows > 0 for progress in query.recentProgress)

    def rows(self, *columns: str) -> list[tuple[Any, ...]]:
        """Return the rows of the table, sorted."""
        df = self.spark.table(self.table)
        chosen = df.select(*columns) if columns else df
        return sorted((tuple(row) for row in chosen.collect()), key=repr)

    def schema_versions(self) -> list[str]:
        """Return the names of the stored versions."""
        return sorted(path.name for path in (self.schemas / "_schemas").iterdir())


@pytest.fixture
def landing(spark: SparkSession, tmp_path: Path) -> Landing:
    """An empty landing directory."""
    return Landing(spark, tmp_path)


@pytest.fixture
def failing() -> Callable[[Callable[[], Any]], BaseException]:
    """Return the exception of a call."""

    def caught(call: Callable[[], Any]) -> BaseException:
        with pytest.raises(Exception) as error:  # noqa: PT011  # the tests look at it
            call()
        return error.value

    return caught
