"""The kind of a Python function: `udf()` and `udtf()` read the type hints and the settings of a session.

Spark 4.2 infers the kind of a UDF from its type hints, except for functions without arguments. Two things
differ from the runtimes that the code was written for:

- `inspect.getfullargspec` counts `self` of a bound method. `udf(fake.first_name)` became a grouped aggregate,
  and its use failed with MISSING_GROUP_BY.
- Hints such as `str` are not types of pandas or Arrow: Spark makes an ordinary UDF, with a warning for each.

Without hints the setting `spark.sql.execution.pythonUDF.arrow.enabled` decides. PySpark reads the one of the
process's first session. A notebook that another one runs has a session and settings of its own.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec, Wrapped
from lakeward.spark_internals import activated_session


def _infer(before: Wrapped) -> Any:
    @wraps(before)
    def infer_eval_type_for_udf(f: Any) -> Any:
        try:
            return before(f) if inspect.signature(f).parameters else None
        except Exception:  # noqa: BLE001  # Spark warns of any, then makes an ordinary UDF as for None
            return None

    return infer_eval_type_for_udf


def _create_udf(before: Wrapped) -> Any:
    @wraps(before)
    def create(f: Any, returnType: Any, useArrow: bool | None = None) -> Any:  # PySpark's
        from pyspark.util import PythonEvalType

        created = before(f=f, returnType=returnType, useArrow=useArrow)
        by_setting = (PythonEvalType.SQL_BATCHED_UDF, PythonEvalType.SQL_ARROW_BATCHED_UDF)
        if useArrow is not None or created.evalType not in by_setting:
            return created
        own = _own_setting("spark.sql.execution.pythonUDF.arrow.enabled")
        return created if own is None else before(f=f, returnType=returnType, useArrow=own)

    return create


def _create_udtf(before: Wrapped) -> Any:
    @wraps(before)
    def create(*arguments: Any, useArrow: bool | None = None, **named: Any) -> Any:  # PySpark's
        if useArrow is None:
            useArrow = _own_setting("spark.sql.execution.pythonUDTF.arrow.enabled")  # noqa: N806
        return before(*arguments, useArrow=useArrow, **named)

    return create


def _own_setting(key: str) -> bool | None:
    """Return a setting of this thread's own session, None where it has none."""
    own = activated_session()
    return None if own is None else str(own.conf.get(key)).lower() == "true"


_BUILTIN = "pyspark.sql.functions.builtin"
_SETTINGS = "{}() takes the setting of the notebook's own session"
PATCHES = (
    PatchSpec(
        "pyspark.sql.pandas.typehints",
        "infer_eval_type_for_udf",
        "session",
        "udf() with type hints other than types of pandas or Arrow makes an ordinary UDF",
        _infer,
    ),
    PatchSpec(_BUILTIN, "_create_py_udf", "session", _SETTINGS.format("udf"), _create_udf),
    PatchSpec(_BUILTIN, "_create_py_udtf", "session", _SETTINGS.format("udtf"), _create_udtf),
)
