"""Type hints of a Python UDF decide its kind only if they name types of pandas or Arrow."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.util import PythonEvalType


class _Words:
    """Methods of an object, as data generators have them."""

    def one(self) -> str:
        return "a"

    def plain(self):  # type: ignore[no-untyped-def]
        return "a"

    def same(self, x: str) -> str:
        return x

    @classmethod
    def of_class(cls) -> str:
        return "a"

    @staticmethod
    def static() -> str:
        return "a"

    def __call__(self) -> str:
        return "a"


def _partly(x: pd.Series, y) -> str:  # type: ignore[no-untyped-def]
    return str(x) + str(y)


def _unknown(x: Missing) -> str:  # type: ignore[name-defined]  # noqa: F821
    return str(x)


ORDINARY: dict[str, Callable[..., Any]] = {
    "bound method": _Words().one,
    "bound method without hints": _Words().plain,
    "bound method with an argument": _Words().same,
    "class method": _Words.of_class,
    "static method": _Words.static,
    "callable object": _Words(),
    "partial": partial(_Words().same, "a"),
    "lambda": lambda: "a",
    "some hints": _partly,
    "a hint that is not defined": _unknown,
}


@pytest.mark.parametrize("case", ORDINARY)
def test_other_type_hints_make_an_ordinary_udf_without_a_warning(spark: SparkSession, case: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made: Any = F.udf(ORDINARY[case])
    assert made.evalType in (PythonEvalType.SQL_BATCHED_UDF, PythonEvalType.SQL_ARROW_BATCHED_UDF)


def test_methods_of_objects_make_columns(spark: SparkSession) -> None:
    words = _Words()
    df = spark.range(2).withColumn("one", F.udf(words.one)()).withColumn("same", F.udf(words.same)("one"))
    assert [(row.one, row.same) for row in df.collect()] == [("a", "a"), ("a", "a")]


def _series(x: pd.Series) -> pd.Series:
    return x


def _mean(x: pd.Series) -> float:
    return float(x.mean())


def _series_iterator(x: Iterator[pd.Series]) -> Iterator[pd.Series]:
    return x


def _array(x: pa.Array) -> pa.Array:
    return x


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (_series, PythonEvalType.SQL_SCALAR_PANDAS_UDF),
        (_mean, PythonEvalType.SQL_GROUPED_AGG_PANDAS_UDF),
        (_series_iterator, PythonEvalType.SQL_SCALAR_PANDAS_ITER_UDF),
        (_array, PythonEvalType.SQL_SCALAR_ARROW_UDF),
    ],
)
def test_types_of_pandas_and_arrow_decide_as_in_spark(
    spark: SparkSession, function: Callable[..., Any], kind: int
) -> None:
    made: Any = F.udf(function, "double")
    assert made.evalType == kind
