"""The Python end of the session's parser: questions come from the JVM, answers go back as JSON."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from lakeward.errors import LakewardError, SqlError
from lakeward.sql.outcome import Command, Edits, Outcome
from lakeward.sql.parameters import filled
from lakeward.sql.rewrite import rewrite, triggers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["answer", "connect"]

_NAME = "_lakeward_sql"
_SQL_STATE = re.compile(r"\s*SQLSTATE: (\w{5})")
_log = logging.getLogger(__name__)


def connect(spark: SparkSession) -> None:
    """Put this process in the place of the one that the JVM asks; once a JVM is enough.

    In a JVM of another process that one answers.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    from lakeward.session import INFORMATION_SCHEMA, borrowed

    if borrowed() is not None:
        return
    gateway: Any = spark._sc._gateway
    if _NAME in vars(gateway):  # not getattr: whatever a gateway lacks it takes for a name of the JVM's
        return
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]  # PySpark types it not
    vars(gateway)[_NAME] = rewriter = _Rewriter()
    gateway.jvm.lakeward.Frontend.use(rewriter, triggers())
    gateway.jvm.lakeward.InformationSchema.use(json.dumps(INFORMATION_SCHEMA))


class _Rewriter:
    """What the JVM calls. An exception of ours would hide the user's own error: none leaves here."""

    def rewrite(self, text: str, is_expression: bool) -> str | None:
        try:
            outcome = rewrite(text, is_expression=is_expression)
            return None if outcome is None else answer(outcome)
        except Exception:  # noqa: BLE001  # a fault of ours must not stand between users and Spark
            _log.exception("The SQL front end failed; Spark's parser has the word")
            return None

    def fill(self, text: str, parameters: str) -> str:
        return filled(text, json.loads(parameters))

    def run(self, command: str, session: Any) -> Any:
        from lakeward.sql.commands import carry_out

        asked = json.loads(command)
        try:
            result = carry_out(_session(session), asked["name"], asked["arguments"])
        except SqlError as error:
            return _error(error.condition, _text(error), error.sql_state, error.parameters)
        except LakewardError as error:
            return _error(error.condition, _text(error), None)
        except Exception as error:  # noqa: BLE001  # whatever it is, the caller sees it as his statement's error
            cause = _java_exception(error)
            return cause if cause is not None else _said(error)
        return json.dumps(result) if isinstance(result, dict) else result

    class Java:
        """How py4j learns which interface this is."""

        implements: ClassVar[list[str]] = ["lakeward.SqlRewriter"]


def answer(outcome: Outcome) -> str:
    """The outcome as the JVM reads it; places are counted in characters, as both languages' parsers do."""
    if isinstance(outcome, Command):
        return json.dumps({"command": {"name": outcome.name, "arguments": dict(outcome.arguments)}})
    if isinstance(outcome, Edits):
        return json.dumps({"edits": [[e.start, e.end, e.text] for e in outcome.edits]})
    return _error(outcome.condition, outcome.message, outcome.sql_state, outcome.parameters)


def _error(
    condition: str, message: str, sql_state: str | None, parameters: Mapping[str, str] | None = None
) -> str:
    error = {
        "condition": condition,
        "message": message,
        "sqlState": sql_state,
        "parameters": parameters and dict(parameters),
    }
    return json.dumps({"error": error})


def _text(error: LakewardError) -> str:
    return f"{error.message} {error.next_step}" if error.next_step else error.message


def _said(error: BaseException) -> str:
    """An error without an exception of the JVM; of Delta's own in Python only the text is left.

    >>> _said(ValueError("[DELTA_X.Y] Somebody else was faster. SQLSTATE: 2D521"))  # doctest: +ELLIPSIS
    '{"error": {"condition": "DELTA_X.Y", "message": "Somebody else was faster.", "sqlState": "2D521", ...'
    >>> _said(ValueError("what?"))  # doctest: +ELLIPSIS
    '{"error": {"condition": "INTERNAL_ERROR", "message": "ValueError: what?", "sqlState": "XX000", ...'
    """
    from lakeward.session import condition_of, message_of

    condition = condition_of(error)
    if condition is None:
        return _error("INTERNAL_ERROR", f"{type(error).__name__}: {error}", "XX000")
    text = message_of(error)
    state = _SQL_STATE.search(text)
    message = _SQL_STATE.sub("", text).partition(f"[{condition}]")[2].strip()
    return _error(condition, message, state.group(1) if state else None)


def _session(java: Any) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    assert context is not None
    return SparkSession(context, java)


def _java_exception(error: BaseException) -> Any:
    """The exception of the JVM that a failed call carries, so that it arrives as if thrown there."""
    return getattr(error, "_origin", None) or getattr(error, "java_exception", None)
