"""`from_json` without a schema fails as the SQL function does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

OPTIONS = {"schemaLocationKey": "k"}
CALLS: dict[str, Callable[[], Any]] = {
    "positional": lambda: F.from_json("value", None, OPTIONS),  # type: ignore[arg-type]
    "named": lambda: F.from_json(F.col("value"), schema=None, options=OPTIONS),  # type: ignore[arg-type]
    "without options": lambda: F.from_json("value", None),  # type: ignore[arg-type]
    "column": lambda: F.from_json("value", F.lit(None)),
    "sql": lambda: F.expr("from_json(value, NULL, map('schemaLocationKey', 'k'))"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_parser_without_a_schema_fails_with_a_condition(spark: SparkSession, call: str) -> None:
    frame = spark.createDataFrame([("{}",)], "value string")
    with pytest.raises(AnalysisException) as raised:
        frame.select(CALLS[call]()).collect()
    assert raised.value.getCondition() == "INVALID_SCHEMA.NON_STRING_LITERAL"


def test_a_schema_is_used_as_before(spark: SparkSession) -> None:
    frame = spark.createDataFrame([('{"a": 1}',)], "value string")
    assert frame.select(F.from_json("value", "a INT").a).first() == (1,)
    assert frame.select(F.from_json("value", F.lit("a INT")).a).first() == (1,)
