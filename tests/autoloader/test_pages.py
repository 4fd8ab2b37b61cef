"""The examples of docs/auto-loader.md run unchanged."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "auto-loader.md"
BLOCK = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def volumes(spark, suite_settings) -> Iterator[Path]:
    """Where the page's volumes lie; nothing of the page stays behind."""
    folder = suite_settings.volumes / "main" / "default"
    yield folder
    for row in spark.sql("SHOW TABLES IN main.default LIKE 'al_*'").collect():
        spark.sql(f"DROP TABLE main.default.{row.tableName}")
    for volume in ("landing", "state"):
        spark.sql(f"DROP VOLUME IF EXISTS main.default.{volume}")
        shutil.rmtree(folder / volume, ignore_errors=True)


def table_of(spark, table: str, columns: list[str]) -> list[str]:
    rows = spark.table(f"main.default.{table}").selectExpr(*columns).collect()
    return sorted(" | ".join("NULL" if value is None else str(value) for value in row) for row in rows)


@pytest.mark.rule("7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.9", "7.10", "7.11")
@pytest.mark.rule("4.1.5", "1.1.9")
@pytest.mark.parametrize("tables", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_every_example_of_the_page_runs_and_gives_what_it_shows(spark, volumes: Path, tables: int) -> None:
    names: dict[str, Any] = {"spark": spark}
    shown = 0
    for kind, about, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "file":
            path = volumes / "landing" / about
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif kind == "python":
            exec(compile(body, str(PAGE), "exec"), names)
        elif kind == "rows":
            table, _, columns = about.partition(": ")
            wanted = re.split(r", (?![^()]*\))", columns)
            assert table_of(spark, table, wanted) == body.splitlines(), table
            shown += 1
            if shown == tables:
                return
    raise AssertionError(f"the page shows {shown} tables")
