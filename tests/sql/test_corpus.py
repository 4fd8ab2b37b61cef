"""Every statement of the corpus gives what the reference says it gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from lakeward.session import condition_of
from lakeward.sql import CONSTRUCTS, constructs_in
from tests.sql.corpus_file import Case, cases, files


def plain(value: Any) -> Any:
    """A value as the corpus writes it."""
    if isinstance(value, Row):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def difference(spark: SparkSession, case: Case) -> str | None:
    """What a statement gave instead of what was expected."""
    try:
        frame = spark.sql(case.text)
        rows = [plain(row) for row in frame.collect()]
    except (PySparkException, Py4JJavaError) as error:
        if case.condition is not None and condition_of(error) == case.condition:
            return None
        return f"{case.where}: {case.text}\n    failed: {str(error)[:300]}"
    if case.condition is not None:
        return f"{case.where}: {case.text}\n    wanted {case.condition}, gave {rows}"
    if case.columns is not None and frame.columns != case.columns:
        return f"{case.where}: {case.text}\n    wanted columns {case.columns}, gave {frame.columns}"
    if case.rows is not None and rows != case.rows:
        return f"{case.where}: {case.text}\n    wanted {json.dumps(case.rows)}\n    gave   {json.dumps(rows)}"
    return None


@pytest.mark.parametrize("path", files(), ids=lambda p: p.stem)
def test_statements_give_what_is_expected(spark: SparkSession, path: Path) -> None:
    schema = f"main.corpus_{path.stem}"
    spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    spark.sql(f"CREATE SCHEMA {schema}")
    spark.sql(f"USE {schema}")
    try:
        differences = [d for case in cases(path) if (d := difference(spark, case)) is not None]
    finally:
        spark.sql("USE main.default")
    assert not differences, "\n" + "\n".join(differences)


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    texts = [re.sub(r"\s+", " ", case.text) for path in files() for case in cases(path)]
    assert len(texts) >= 300
    assert len(set(texts)) > 0.9 * len(texts)


def test_every_construct_that_names_the_corpus_is_in_it() -> None:
    shown = {c.name for path in files() for case in cases(path) for c in constructs_in(case.text)}
    here = f"tests/sql/{Path(__file__).name}"
    recognized = [c.name for c in CONSTRUCTS if c.test == here and (c.statement or c.edits)]
    assert [name for name in recognized if name not in shown] == []
