"""`from_json` without a schema is the same call in Python as in SQL.

In pipelines, `from_json(column, None, {"schemaLocationKey": …})` infers the schema, elsewhere it is refused.
The Java function of Spark does not check its argument: the call ended with a NullPointerException, where
SQL's `from_json(column, NULL)` has a condition.
"""

from __future__ import annotations

from functools import partial, wraps
from typing import Any

from lakeward.patching import PatchSpec


def _find(before: Any) -> Any:
    @wraps(before)
    def get_jvm_function(name: str, sc: Any) -> Any:
        function = before(name, sc)
        return partial(_call, function) if name == "from_json" else function

    return get_jvm_function


def _call(function: Any, column: Any, schema: Any, *options: Any) -> Any:
    if schema is None:
        from pyspark.sql.classic.column import _to_java_column
        from pyspark.sql.functions import lit

        schema = _to_java_column(lit(None))
    return function(column, schema, *options)


PATCHES = (
    PatchSpec(
        "pyspark.sql.functions.builtin",
        "_get_jvm_function",
        "session",
        "from_json without a schema is inferred in pipelines, and fails with a condition elsewhere",
        _find,
    ),
)
