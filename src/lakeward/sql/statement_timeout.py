"""STATEMENT_TIMEOUT: the seconds after which a statement of a SQL warehouse is halted.

Sources: https://docs.databricks.com/sql/language-manual/parameters/statement_timeout.html and
https://docs.databricks.com/aws/en/error-messages/invalid-statement-timeout-error-class
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.spark_internals import jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATEMENT_TIMEOUT = "statement_timeout"
LONGEST_TIMEOUT = 172_800
"""The default: two days, in seconds."""

_SETTING = "spark.lakeward.statementTimeout"
_INTERVAL = 0.2


def shown_timeout(spark: SparkSession) -> str:
    """Return the value of the session, or the default."""
    return str(spark.conf.get(_SETTING, str(LONGEST_TIMEOUT)))


def set_timeout(spark: SparkSession, value: str | None) -> None:
    """Set the seconds of the session; None resets them. Raises SqlError for a value that is not valid."""
    if value is None:
        spark.conf.unset(_SETTING)
        return
    if not re.fullmatch(r"[+-]?\d+", value.strip()):
        raise _invalid("NOT_AN_INTEGER", f"{value} is not an integer")
    if int(value) < 0:
        raise _invalid("BELOW_MINIMUM", f"{value} is lower than minimum allowed timeout 0")
    if int(value) > LONGEST_TIMEOUT:
        raise _invalid("ABOVE_MAXIMUM", f"{value} is greater than maximum allowed timeout {LONGEST_TIMEOUT}")
    spark.conf.set(_SETTING, str(int(value)))


def _invalid(reason: str, text: str) -> SqlError:
    return SqlError(
        f"INVALID_STATEMENT_TIMEOUT.{reason}",
        f"Invalid value for {STATEMENT_TIMEOUT}: {text}.",
        sql_state="22023",
        next_step=f"Give whole seconds from 0 to {LONGEST_TIMEOUT}.",
    )


@contextmanager
def time_limit(spark: SparkSession) -> Iterator[None]:
    """Halt the block, a statement of this session in this thread, after the session's seconds.

    0 and the default are no limit here. Raises SqlError in place of the error with which Spark ends it.
    """
    seconds = int(shown_timeout(spark))
    if seconds in (0, LONGEST_TIMEOUT):
        yield
        return
    limit = _Limit(spark, seconds)
    limit.start()
    try:
        yield
    except Exception as error:
        if not limit.is_exceeded:
            raise
        raise SqlError(
            "QUERY_EXECUTION_TIMEOUT_EXCEEDED",
            f"Query execution is canceled: it exceeded the timeout of {seconds} s.",
            sql_state="57KD0",
            next_step=f"SET {STATEMENT_TIMEOUT} = … sets another number of seconds.",
        ) from error
    finally:
        limit.end()


class _Limit:
    """Cancels the jobs of this thread, and interrupts its thread of the JVM, until the statement ends."""

    def __init__(self, spark: SparkSession, seconds: float) -> None:
        self._context, self._seconds = spark.sparkContext, seconds
        self._tag = f"lakeward-timeout-{uuid.uuid4()}"
        self._threads: Any = jvm_view(spark).java.lang.Thread
        self._thread: Any = None
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name=self._tag, daemon=True)
        self.is_exceeded = False

    def start(self) -> None:
        self._thread = self._threads.currentThread()
        self._context.addJobTag(self._tag)
        self._watcher.start()

    def end(self) -> None:
        self._ended.set()
        self._watcher.join()
        self._context.removeJobTag(self._tag)
        self._threads.interrupted()  # clears an interrupt that came too late

    def _watch(self) -> None:
        if self._ended.wait(self._seconds):
            return
        self.is_exceeded = True
        # A statement may start further jobs after the one that was canceled.
        while not self._ended.is_set():
            self._context.cancelJobsWithTag(self._tag)
            self._thread.interrupt()
            self._ended.wait(_INTERVAL)
