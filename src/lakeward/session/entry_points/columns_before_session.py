"""Columns, windows and types before a session exists: the first use of the JVM starts it.

On Databricks a session exists before any code is imported, so modules build columns at module level. PySpark
refuses that without an active SparkContext. A column needs only the JVM, not a context. Starting only the JVM
keeps the settings of a builder that the code calls later, such as its master and its warehouse.

PySpark's functions keep their code except for one import: `from pyspark import SparkContext` becomes an
import of `SparkContext` from this module, so tracebacks and call sites of columns do not change.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from lakeward.patching import PatchSpec
from lakeward.session import active_session
from lakeward.session.entry_points.ddl_types import parse_simple_type
from lakeward.spark_internals import active_context, attach_gateway, current_gateway, detached_context

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_lock = threading.RLock()


class _ContextOnDemand:
    """Replaces the class SparkContext in PySpark functions that look up the active context."""

    @property
    def _active_spark_context(self) -> Any:
        return active_context() or _context_without_start()


SparkContext = _ContextOnDemand()


def parse_type(text: str) -> DataType:
    """Return the type of a DDL string; simple types need no JVM while none is running."""
    from pyspark.sql.utils import get_active_spark_context, is_remote

    if is_remote():
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.active()._parse_ddl(text)
    found = parse_simple_type(text) if current_gateway() is None else None
    return found or get_active_spark_context()._parse_ddl(text)


def _parse_datatype_string(s: str) -> DataType:
    from lakeward.session.entry_points.columns_before_session import parse_type

    return parse_type(s)


def _import_context_from_here(code: Any) -> Any:
    return code.replace(co_names=tuple(__name__ if name == "pyspark" else name for name in code.co_names))


_REASON = "columns, windows and types can be made before there is a session"
# Functions that import SparkContext to look up the active one, and the parser of types.
PATCHES = (
    *(
        PatchSpec(owner, "__code__", "session", _REASON, _import_context_from_here)
        for owner in (
            "pyspark.sql.utils:get_active_spark_context",
            "pyspark.sql.functions.builtin:_invoke_function",
            "pyspark.sql.internal:InternalFunction._invoke_internal_function_over_columns",
        )
    ),
    PatchSpec(
        "pyspark.sql.types:_parse_datatype_string",
        "__code__",
        "session",
        _REASON,
        lambda _: _parse_datatype_string.__code__,
    ),
)


def _context_without_start() -> Any:
    """Return a SparkContext that was never started: it gives access to the JVM only."""

    from lakeward.session import spark_context
    from lakeward.session.jvm import shared_jvm

    with _lock:
        if active_context() is None and shared_jvm.shared_gateway() is not None:
            return active_session.session().sparkContext
        if current_gateway() is None:
            settings = active_session.current_settings() or active_session.default_settings()
            return attach_gateway(spark_context.start_jvm(settings))
        return detached_context()
