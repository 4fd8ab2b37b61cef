"""The object that the session's parser in the JVM calls: it rewrites statements and runs commands.

Answers are JSON.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from lakeward.errors import LakewardError, SqlError
from lakeward.spark_internals import active_context, java_frame, java_gateway
from lakeward.sql.construct import Command, Edits, RewriteResult, Rows, run_command
from lakeward.sql.parameters import fill_parameters
from lakeward.sql.rewriter import rewrite, triggers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAME = "_lakeward_sql"
_SQL_STATE = re.compile(r"\s*SQLSTATE: (\w{5})")
_log = logging.getLogger(__name__)


def connect(spark: SparkSession) -> None:
    """Register this process as the one that the JVM calls, once per JVM.

    For a JVM shared with another process that process answers.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    from lakeward.session import (
        INFORMATION_SCHEMA,
        INFORMATION_SCHEMA_ABOUT,
        SELECTING_COLUMNS,
        shared_gateway,
    )
    from lakeward.sql import information_schema  # noqa: F401  # registers the command that the JVM sends

    if shared_gateway() is not None:
        return
    gateway: Any = java_gateway(spark)
    # Not getattr: py4j resolves unknown attributes of a gateway as names in the JVM.
    if _NAME in vars(gateway):
        return
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]  # PySpark types it not
    vars(gateway)[_NAME] = rewriter = _Rewriter()
    gateway.jvm.lakeward.PythonSqlBridge.use(rewriter, triggers())
    tables = (INFORMATION_SCHEMA, SELECTING_COLUMNS, INFORMATION_SCHEMA_ABOUT)
    gateway.jvm.lakeward.InformationSchema.use(*map(json.dumps, tables))


class _Rewriter:
    """The object that the JVM calls. Raises nothing: an internal error must not hide the user's own."""

    def rewrite(self, text: str, is_expression: bool) -> str | None:
        try:
            result = rewrite(text, is_expression=is_expression)
            return None if result is None else as_json(result)
        except Exception:  # noqa: BLE001  # an internal error must not stop statements that Spark can run
            _log.exception("SQL rewriting failed; falling back to Spark's parser.")
            return None

    def fill(self, text: str, parameters: str) -> str:
        values = json.loads(parameters)
        return fill_parameters(fill_parameters(text, values["named"]), values["positional"])

    def run(self, command: str, session: Any) -> Any:
        request = json.loads(command)
        try:
            result = run_command(_session(session), request["name"], request["arguments"])
        except SqlError as error:
            return _error(error.condition, error.text, error.sql_state, error.parameters)
        except LakewardError as error:
            return _error(error.condition, error.text, None)
        except Exception as error:  # noqa: BLE001  # the caller sees any error as the error of the statement
            cause = _java_exception(error)
            return cause if cause is not None else _python_error(error)
        return _result(result)

    class Java:
        """Names the interface for py4j."""

        implements: ClassVar[list[str]] = ["lakeward.PythonSqlBridge$Rewriter"]


def as_json(result: RewriteResult) -> str:
    """Return the result for the JVM; positions count characters in both languages."""
    if isinstance(result, Command):
        return json.dumps({"command": result.as_json()})
    if isinstance(result, Edits):
        return json.dumps({"edits": [[e.start, e.end, e.text] for e in result.edits]})
    return _error(result.condition, result.message, result.sql_state, result.parameters)


def _result(result: Any) -> Any:
    """Return a command's result for the JVM: JSON, or a Dataset."""
    from pyspark.sql import DataFrame

    if result is None:
        return "{}"
    if isinstance(result, Rows):
        return json.dumps({"schema": result.schema, "rows": [list(row) for row in result.rows]})
    if isinstance(result, DataFrame):
        return java_frame(result)
    return json.dumps(result) if isinstance(result, dict) else result


def _error(
    condition: str, message: str, sql_state: str | None, parameters: Mapping[str, str] | None = None
) -> str:
    """Return an error for the JVM, which raises it as an AnalysisException.

    Args:
        condition: The condition's name.
        message: The text for a condition that Spark does not know.
        sql_state: Its SQLSTATE; None for the JVM's default.
        parameters: The values of Spark's own message, for a condition that Spark knows.
    """
    error = {
        "condition": condition,
        "message": message,
        "sqlState": sql_state,
        "parameters": parameters and dict(parameters),
    }
    return json.dumps({"error": error})


def _python_error(error: BaseException) -> str:
    """Return an error without a JVM exception; Delta's Python API raises some with the text alone.

    >>> _python_error(ValueError("[DELTA_X.Y] A commit won. SQLSTATE: 2D521"))  # doctest: +ELLIPSIS
    '{"error": {"condition": "DELTA_X.Y", "message": "A commit won.", "sqlState": "2D521", ...'
    >>> _python_error(ValueError("what?"))  # doctest: +ELLIPSIS
    '{"error": {"condition": "INTERNAL_ERROR", "message": "ValueError: what?", "sqlState": "XX000", ...'
    """
    from lakeward.error_formatting import describe_error

    description = describe_error(error)
    if description.condition is None:
        return _error("INTERNAL_ERROR", f"{description.name}: {error}", "XX000")
    state = _SQL_STATE.search(description.message)
    text = _SQL_STATE.sub("", description.message)
    message = (text.partition(f"[{description.condition}]")[2] or text).strip()
    return _error(description.condition, message, state.group(1) if state else None)


def _session(java: Any) -> SparkSession:
    from pyspark.sql import SparkSession

    context = active_context()
    assert context is not None
    return SparkSession(context, java)


def _java_exception(error: BaseException) -> Any:
    """Return the JVM exception of a failed call, so that it arrives as if thrown there."""
    return getattr(error, "_origin", None) or getattr(error, "java_exception", None)
