"""A landing directory, and tables loaded from it by COPY INTO."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Loads:
    """Files arrive in `folder`; `copy` loads them into a table."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.table = f"main.default.copied_{uuid.uuid4().hex[:8]}"

    def create(self, columns: str = "id BIGINT, s STRING", rest: str = "") -> None:
        """Create the table, without columns if they are empty."""
        self.spark.sql(f"CREATE TABLE {self.table} {f'({columns})' if columns else ''} {rest}")

    def put(self, name: str, *records: Any, text: str | None = None) -> Path:
        """Write a file of JSON lines, or of a text."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(r) + "\n" for r in records) if text is None else text)
        return path

    def copy(
        self,
        rest: str = "",
        *,
        source: str = "",
        file_format: str = "JSON",
        into: str = "",
        **options: str,
    ) -> list[Any]:
        """Return the counts or the preview; `options` are COPY_OPTIONS."""
        copied = (
            f"COPY_OPTIONS ({', '.join(f'{k!r} = {v!r}' for k, v in options.items())})" if options else ""
        )
        rows = self.spark.sql(
            f"COPY INTO {into or self.table} FROM {source or repr(str(self.folder))} "
            f"FILEFORMAT = {file_format} {rest} {copied}"
        ).collect()
        return [tuple(row) for row in rows]

    def rows(self, query: str = "*") -> list[tuple[Any, ...]]:
        """Return the rows of the table, sorted."""
        return sorted((tuple(r) for r in self.spark.table(self.table).selectExpr(query).collect()), key=repr)

    def history(self) -> list[Any]:
        """Return the history of the table, newest first."""
        return list(self.spark.sql(f"DESCRIBE HISTORY {self.table}").collect())


@pytest.fixture
def loads(spark: SparkSession, tmp_path: Path) -> Loads:
    """An empty landing directory and a table name."""
    folder = tmp_path / "landing"
    folder.mkdir()
    return Loads(spark, folder)
