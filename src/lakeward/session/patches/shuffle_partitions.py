"""`spark.sql.shuffle.partitions` takes `auto`, as on Databricks: the session's own number is used.

Spark refuses the word. A number is stored instead, since checkpoints record the setting: the state of a
stream needs the same number of partitions in every run. AQE coalesces the partitions of queries either way.

Source: https://docs.databricks.com/aws/en/optimizations/aqe
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import Order, PatchSpec
from lakeward.session.configuration.user_conf import SHUFFLE_PARTITIONS, is_automatic
from lakeward.spark_internals import active_context


def default_partitions() -> str:
    """Return the number of shuffle partitions with which the session began."""
    context = active_context()
    # 200 is Spark's own.
    return str(context.getConf().get(SHUFFLE_PARTITIONS, "200")) if context is not None else "200"


def _set(before: Any) -> Any:
    @wraps(before)
    def set(self: Any, key: str, value: Any) -> None:  # noqa: A001  # as PySpark names it
        before(self, key, default_partitions() if is_automatic(key, value) else value)

    return set


PATCHES = (
    PatchSpec(
        "pyspark.sql.conf:RuntimeConfig",
        "set",
        "session",
        "spark.sql.shuffle.partitions takes auto",
        _set,
        Order.REPLACEMENT,
    ),
)
