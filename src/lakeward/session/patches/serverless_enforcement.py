"""Enforce the limitations of serverless compute for users' code, but not for lakeward's own.

PySpark's classes are patched when the profile is first used, and a switch enables the checks: other packages
patch some of the same attributes, and each layer keeps its position.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial, wraps
from types import FrameType
from typing import Any

from lakeward.patching import Order, PatchSpec, Wrapped, install
from lakeward.session.runtimes.serverless_limitations import (
    SERVERLESS_LIMITS,
    SERVERLESS_SETTINGS,
    SERVERLESS_TRIGGERS,
    Limit,
    refused_statement,
)

_REASON = "the profile serverless refuses what serverless compute refuses"
# PySpark, Delta and lakeward use the JVM on behalf of user code.
_TRUSTED = ("pyspark", "py4j", "delta", "lakeward")
_TRIGGER = "_lakeward_trigger"
_on = False
# Pipelines that run in this process.
_pipelines = 0


def set_enabled(enabled: bool) -> None:
    """Enforce the limitations in this process, or stop enforcing them."""
    global _on  # noqa: PLW0603  # the patches are process-wide
    if enabled:
        install(declare_patches())
    _on = enabled


@contextmanager
def allow_settings() -> Iterator[None]:
    """Let user code set every setting until the block ends, as in pipelines.

    The list of settings is documented for notebooks and jobs alone, and frameworks for serverless pipelines
    set others by `spark.conf.set`: https://github.com/databricks-solutions/lakeflow_framework
    """
    global _pipelines  # noqa: PLW0603  # the patches are process-wide
    _pipelines += 1
    try:
        yield
    finally:
        _pipelines -= 1


def refuse_context(frame: FrameType) -> None:
    """Raise a Spark Connect client's error if user code, calling in `frame`, requests a context."""
    if _on and _is_user_code(frame):
        raise _error("CONTEXT_UNAVAILABLE_FOR_REMOTE_CLIENT", "")


def _is_user_code(frame: FrameType) -> bool:
    """Return whether the code in `frame` belongs to another package than the trusted ones.

    Its file decides, not its module's name: a user's module may be called `delta` too.
    """
    return not frame.f_code.co_filename.startswith(_trusted_folders())


@cache
def _trusted_folders() -> tuple[str, ...]:
    specs = [importlib.util.find_spec(name) for name in _TRUSTED]
    return tuple(
        f"{folder}{os.sep}" for spec in specs if spec for folder in spec.submodule_search_locations or ()
    )


_OWNERS = {
    "SparkSession": "pyspark.sql.session:SparkSession",
    "DataFrame": "pyspark.sql.classic.dataframe:DataFrame",
    "Catalog": "pyspark.sql.catalog:Catalog",
    "SparkContext": "pyspark.core.context:SparkContext",
    "RuntimeConfig": "pyspark.sql.conf:RuntimeConfig",
    "DataStreamWriter": "pyspark.sql.streaming.readwriter:DataStreamWriter",
}


def declare_patches() -> tuple[PatchSpec, ...]:
    """Return the layers: one for each row of the table of limits, and those that inspect arguments."""
    frame_names = {limit.name for limit in SERVERLESS_LIMITS if limit.owner == "DataFrame"}
    guards: list[tuple[str, str, Callable[[Any], Any]]] = [
        (limit.owner, limit.name, partial(_guard, limit)) for limit in SERVERLESS_LIMITS
    ]
    checks: list[tuple[str, str, Callable[[Any], Any]]] = [
        ("DataFrame", "__getattr__", partial(_missing, names=frame_names)),
        ("SparkSession", "sql", _sql),
        ("RuntimeConfig", "set", _set),
        ("RuntimeConfig", "get", _get),
        ("DataStreamWriter", "trigger", _noting_trigger),
        ("DataStreamWriter", "start", _starting),
        ("DataStreamWriter", "toTable", _starting),
    ]
    return tuple(
        PatchSpec(_OWNERS[owner], name, "serverless", _REASON, make, Order.POLICY)
        for owner, name, make in [*guards, *checks]
    )


def _guard(limit: Limit, before: Any) -> Any:
    if isinstance(before, classmethod):
        return classmethod(_call(limit, before.__func__))
    return _call(limit, before) if callable(before) and limit.subject else _Attribute(limit, before)


class _Attribute:
    """A property, method or instance attribute that user code may not access."""

    def __init__(self, limit: Limit, before: Any) -> None:
        self.limit, self.before = limit, before

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            if self.before is None:
                raise AttributeError(self.limit.name)
            return self.before.__get__(None, owner)
        if _on and _is_user_code(sys._getframe(1)):
            raise _error(self.limit.condition, self.limit.name)
        if self.before is not None:
            return self.before.__get__(instance, owner)
        try:
            return instance.__dict__[self.limit.name]
        except KeyError:
            raise AttributeError(self.limit.name) from None

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.limit.name] = value


def _call(limit: Limit, before: Wrapped) -> Any:
    """Return a method that raises for user code."""

    @wraps(before)
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        if _on and _is_user_code(sys._getframe(1)):
            raise _error(limit.condition, limit.subject)
        return before(self, *arguments, **named)

    return method


def _missing(before: Wrapped, *, names: Iterable[str]) -> Any:
    """Wrap `__getattr__`: a refused attribute is looked up again as a column and must be refused then too."""

    @wraps(before)
    def missing(self: Any, name: str) -> Any:
        if _on and name in names:
            raise _error("JVM_ATTRIBUTE_NOT_SUPPORTED", name)
        return before(self, name)

    return missing


def _sql(before: Wrapped) -> Any:
    @wraps(before)
    def sql(self: Any, sqlQuery: str, *arguments: Any, **named: Any) -> Any:
        limit = refused_statement(sqlQuery) if _on and isinstance(sqlQuery, str) else None
        if limit is not None:
            raise _error(limit.condition, limit.subject)
        return before(self, sqlQuery, *arguments, **named)

    return sql


def _set(before: Wrapped) -> Any:
    @wraps(before)
    def set_(self: Any, key: str, value: Any) -> None:
        is_free = _pipelines > 0 or key in SERVERLESS_SETTINGS
        if _on and not is_free and _is_user_code(sys._getframe(1)):
            raise _error("CONFIG_NOT_AVAILABLE", key)
        before(self, key, value)

    return set_


def _get(before: Wrapped) -> Any:
    @wraps(before)
    def get(self: Any, key: str, *default: Any, **named: Any) -> Any:
        # Settings about cluster and job of classic compute do not exist, even with a default.
        of_cluster = str(key).startswith(("spark.databricks.clusterUsageTags.", "spark.databricks.job."))
        if _on and of_cluster and _is_user_code(sys._getframe(1)):
            raise _error("CONFIG_NOT_AVAILABLE", key)
        return before(self, key, *default, **named)

    return get


def _noting_trigger(before: Wrapped) -> Any:
    @wraps(before)
    def trigger(self: Any, *arguments: Any, **named: Any) -> Any:
        self.__dict__[_TRIGGER] = next((name for name, value in named.items() if value), None)
        return before(self, *arguments, **named)

    return trigger


def _starting(before: Wrapped) -> Any:
    @wraps(before)
    def start(self: Any, *arguments: Any, **named: Any) -> Any:
        trigger = self.__dict__.get(_TRIGGER)
        if _on and trigger not in SERVERLESS_TRIGGERS and _is_user_code(sys._getframe(1)):
            kind = {"continuous": "Continuous", "realTime": "RealTime"}.get(str(trigger), "ProcessingTime")
            raise _error("INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED", kind)
        return before(self, *arguments, **named)

    return start


_MESSAGES = {
    "NOT_SUPPORTED_WITH_SERVERLESS": ("{} is not supported on serverless compute.", "0A000"),
    "CONFIG_NOT_AVAILABLE": ("Configuration {} is not available.", "42K0I"),
    "INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED": (
        "Trigger type {} is not supported for this cluster type. Use AvailableNow or Once.",
        "0A000",
    ),
}


def _error(condition: str, subject: str) -> Exception:
    """Return the platform's exception; conditions of PySpark have PySpark's own text."""
    from pyspark.errors import PySparkAttributeError, PySparkNotImplementedError, PySparkRuntimeError

    if condition in _MESSAGES:
        text, state = _MESSAGES[condition]
        text = f"[{condition}] {text.format(subject)} SQLSTATE: {state}"
        error: Exception = _analysis_exception()(text, condition, state, subject)
        return error
    if condition == "NOT_IMPLEMENTED":
        return PySparkNotImplementedError(errorClass=condition, messageParameters={"feature": subject})
    if condition == "CONTEXT_UNAVAILABLE_FOR_REMOTE_CLIENT":
        return PySparkRuntimeError(errorClass=condition, messageParameters={})
    return PySparkAttributeError(errorClass=condition, messageParameters={"attr_name": subject})


@cache
def _analysis_exception() -> Any:
    from pyspark.errors import AnalysisException

    class ServerlessException(AnalysisException):
        """A condition of the platform that PySpark does not define."""

        def __init__(self, text: str, condition: str, state: str, subject: str) -> None:
            super().__init__(message=text, errorClass=condition, messageParameters={"subject": subject})
            self._state = state

        def getMessage(self) -> str:  # noqa: N802  # as PySpark names it
            return self._message

        def getSqlState(self) -> str:  # noqa: N802  # as PySpark names it
            return self._state

    return ServerlessException
