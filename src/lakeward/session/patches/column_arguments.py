"""Columns as arguments of functions that Spark Classic takes as plain values.

Serverless compute and clusters in standard access mode run Spark Connect. Its functions make a literal of
every plain value, and a column is a column already: `F.to_date("d", F.lit("yyyy"))` and
`F.date_trunc(F.col("unit"), "t")` are what SQL allows. Spark Classic passes the argument to the JVM as it is,
and fails with NOT_ITERABLE. Such a call goes to the function of SQL here, as Connect sends it.
"""

from __future__ import annotations

from functools import partial, wraps
from typing import Any

from lakeward.patching import PatchSpec
from lakeward.spark_internals import argument_columns, java_column


def _get_jvm_function(before: Any) -> Any:
    @wraps(before)
    def get_jvm_function(name: str, sc: Any) -> Any:
        return partial(_call, name, before(name, sc))

    return get_jvm_function


def _call(name: str, function: Any, *args: Any) -> Any:
    from pyspark.sql import Column, functions

    if not any(isinstance(each, Column) for each in args):
        return function(*args)
    columns = [column for each in args for column in argument_columns(each)]
    return java_column(functions.call_function(name, *columns))


PATCHES = (
    PatchSpec(
        "pyspark.sql.functions.builtin",
        "_get_jvm_function",
        "connect arguments",
        "functions take columns where Spark Classic takes plain values, as Spark Connect does",
        _get_jvm_function,
    ),
)
