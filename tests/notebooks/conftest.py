"""A folder of notebooks, and their runs on the suite's session."""

from __future__ import annotations

import textwrap
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.dbutils import Context, Environment
from lakeward.notebooks import NotebookRun, run
from lakeward.session import Settings, ensure_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Desk:
    """Write notebooks, run them, look at what their cells showed."""

    def __init__(self, spark: SparkSession, settings: Settings, folder: Path) -> None:
        self.spark, self.settings, self.folder = spark, settings, folder
        self.schema = "n" + uuid.uuid4().hex[:10]
        ensure_schema(spark, "main", self.schema)

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).replace("SCHEMA", f"main.{self.schema}"))
        return path

    def run(self, path: Path, **options: Any) -> NotebookRun:
        environment = Environment(settings=lambda: self.settings, context=Context.of(self.settings))
        return run(path, spark=self.spark, environment=environment, root=self.folder, **options)

    def done(self, path: Path, **options: Any) -> NotebookRun:
        """Run, and expect that all went well."""
        finished = self.run(path, **options)
        assert finished.state == "COMPLETED", finished.error
        return finished


@pytest.fixture
def desk(spark: SparkSession, suite_settings: Settings, tmp_path: Path) -> Desk:
    return Desk(spark, suite_settings, tmp_path)


def text_of(finished: NotebookRun, number: int) -> str:
    """All text that one cell showed."""
    outputs = [output for cell in finished.cells if cell.number == number for output in cell.outputs]
    return "\n".join(
        output.get("text") or output.get("data", {}).get("text/plain", "") or output.get("evalue", "")
        for output in outputs
    )
