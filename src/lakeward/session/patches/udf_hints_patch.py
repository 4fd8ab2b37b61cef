"""Type hints of a Python UDF make it a pandas or Arrow UDF only if they name the types of one.

Spark 4.2 infers the kind of a UDF from its type hints, except for functions without arguments. Two things
differ from the runtimes that the code was written for:

- `inspect.getfullargspec` counts `self` of a bound method. `udf(fake.first_name)` became a grouped aggregate,
  and its use failed with MISSING_GROUP_BY.
- Hints such as `str` are no pandas or Arrow types: Spark makes an ordinary UDF, with a warning for each.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec


def _infer(before: Any) -> Any:
    @wraps(before)
    def infer_eval_type_for_udf(f: Any) -> Any:
        try:
            return before(f) if inspect.signature(f).parameters else None
        except Exception:  # noqa: BLE001  # Spark warns of any, then makes an ordinary UDF as for None
            return None

    return infer_eval_type_for_udf


PATCHES = (
    PatchSpec(
        "pyspark.sql.pandas.typehints",
        "infer_eval_type_for_udf",
        "session",
        "udf() with type hints that are no pandas or Arrow types makes an ordinary UDF",
        _infer,
    ),
)
