"""Streams of one Python data source can start at the same time.

Spark keeps the environment variables of a registered data source in one `HashMap`. Each stream that starts
adds variables to it (`PythonStreamingSourceRunner.init`), and the tasks of all streams contain it. Two
streams that add at once leave a map whose size is greater than its number of entries: every later task then
ends with `java.io.OptionalDataException`.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec
from lakeward.spark_internals import jvm_of


def _wrap_function(before: Any) -> Any:
    @wraps(before)
    def wrap(sc: Any, func: Any, returnType: Any = None) -> Any:
        from pyspark.sql.datasource import DataSource

        function = before(sc, func, returnType)
        if not (isinstance(func, type) and issubclass(func, DataSource)):
            return function
        jvm = jvm_of(sc)
        return jvm.SimplePythonFunction(
            function.command(),
            jvm.java.util.concurrent.ConcurrentHashMap(function.envVars()),
            function.pythonIncludes(),
            function.pythonExec(),
            function.pythonVer(),
            function.broadcastVars(),
            function.accumulator(),
        )

    return wrap


PATCHES = (
    PatchSpec(
        "pyspark.sql.udf",
        "_wrap_function",
        "session",
        "streams of one data source that start at the same time change its environment variables",
        _wrap_function,
    ),
)
