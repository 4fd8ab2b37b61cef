"""A landing folder and tables that are loaded from it by COPY INTO."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Loads:
    """Files arrive in `folder`; `copy` loads them into a table of its own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.table = f"main.default.copied_{uuid.uuid4().hex[:8]}"

    def create(self, columns: str = "id BIGINT, s STRING", rest: str = "") -> None:
        """The table; without columns when they are empty."""
        self.spark.sql(f"CREATE TABLE {self.table} {f'({columns})' if columns else ''} {rest}")

    def put(self, name: str, *records: Any, text: str | None = None) -> Path:
        """A file of JSON lines, or of the given text."""
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
        """The result's row, or the preview; `options` are COPY_OPTIONS."""
        copied = (
            f"COPY_OPTIONS ({', '.join(f'{k!r} = {v!r}' for k, v in options.items())})" if options else ""
        )
        rows = self.spark.sql(
            f"COPY INTO {into or self.table} FROM {source or repr(str(self.folder))} "
            f"FILEFORMAT = {file_format} {rest} {copied}"
        ).collect()
        return [tuple(row) for row in rows]

    def rows(self, query: str = "*") -> list[tuple[Any, ...]]:
        """The table's rows, sorted."""
        return sorted((tuple(r) for r in self.spark.table(self.table).selectExpr(query).collect()), key=repr)

    def history(self) -> list[Any]:
        """The table's history, newest first."""
        return list(self.spark.sql(f"DESCRIBE HISTORY {self.table}").collect())


@pytest.fixture
def loads(spark: SparkSession, tmp_path: Path) -> Loads:
    """An empty landing folder and a name for a table."""
    folder = tmp_path / "landing"
    folder.mkdir()
    return Loads(spark, folder)
