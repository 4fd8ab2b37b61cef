"""Errors as users meet them: Auto Loader's own condition instead of Spark's three layers around it."""

from __future__ import annotations

import re
from typing import Any

from pyspark.errors import AnalysisException, StreamingQueryException

from lakeward.errors import CloudFilesError, UnknownFieldException
from lakeward.session import everything_said

__all__ = ["at_definition", "batch_usage", "clean", "unsupported_usage"]

_OURS = re.compile(
    r"^(?:.*\s)?lakeward\.errors\.(CloudFilesError|UnknownFieldException): \[([A-Z0-9_.]+)\] (.*)$",
    re.MULTILINE,
)


class _Conditioned(CloudFilesError):
    """Answers what PySpark's exceptions answer."""

    def getCondition(self) -> str:  # noqa: N802  # as PySpark names it
        """The condition's name."""
        return self.condition

    getErrorClass = getCondition  # noqa: N815  # as above

    def getSqlState(self) -> str:  # noqa: N802  # as PySpark names it
        """The condition's SQLSTATE."""
        return _STATES.get(self.condition.partition(".")[0], "42000")

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802  # as PySpark names it
        """None are kept apart."""
        return {}

    def getMessage(self) -> str:  # noqa: N802  # as PySpark names it
        """The whole text."""
        return str(self)

    def __str__(self) -> str:
        text = f"[{self.condition}] {self.message}"
        return f"{text} {self.next_step}" if self.next_step else text


class CloudFilesAnalysisException(_Conditioned, AnalysisException):
    """A stream that cannot be defined or started."""


class CloudFilesQueryException(_Conditioned, StreamingQueryException):
    """A stream that failed while it ran."""


class UnknownFieldQueryException(_Conditioned, UnknownFieldException, StreamingQueryException):
    """A stream that met new fields."""


_STATES = {
    "UNKNOWN_FIELD_EXCEPTION": "KD003",
    "CF_ADD_NEW_NOT_SUPPORTED": "0A000",
    "CF_INCORRECT_BATCH_USAGE": "42887",
}


def at_definition(error: CloudFilesError) -> CloudFilesAnalysisException:
    """The error as one of analysis, which is what Spark raises at `load` and `start`."""
    return CloudFilesAnalysisException(error.condition, error.message, next_step=error.next_step)


def clean(error: Any) -> Any:
    """The Auto Loader error in a failed query's exception, as a StreamingQueryException; others unchanged."""
    found = None if error is None else _OURS.search(everything_said(error))
    if found is None:
        return error
    kind = UnknownFieldQueryException if found[1] == "UnknownFieldException" else CloudFilesQueryException
    return kind(found[2], found[3].strip())


def batch_usage() -> CloudFilesError:
    """The error for `spark.read.format("cloudFiles")`."""
    return CloudFilesError(
        "CF_INCORRECT_BATCH_USAGE",
        "cloudFiles is a streaming source; it was used with spark.read.",
        next_step="Use spark.readStream, or spark.read with the file format itself.",
    )


def unsupported_usage() -> CloudFilesError:
    """The error for a way to the source that bypasses `spark.readStream.format("cloudFiles").load(…)`."""
    return CloudFilesError(
        "CF_UNSUPPORTED_USAGE",
        "cloudFiles was reached past spark.readStream.",
        next_step='Use spark.readStream.format("cloudFiles")….load(path).',
    )
