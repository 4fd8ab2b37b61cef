"""Auto Loader's errors as PySpark exceptions, extracted from the exceptions that Spark wraps around them."""

from __future__ import annotations

import re
from typing import Any

from pyspark.errors import AnalysisException, PythonException, StreamingQueryException, UnknownException

from lakeward.errors import CloudFilesError, UnknownFieldException
from lakeward.session import full_text

_WRAPPED_ERROR = re.compile(
    r"^(?:.*\s)?lakeward\.(?:errors|autoloader\.error_translation)\."
    r"(CloudFilesError|UnknownFieldException|CloudFilesReadException): \[([A-Z0-9_.]+)\] (.*)$",
    re.MULTILINE,
)


class _Conditioned(CloudFilesError):
    """The interface of PySpark's exceptions."""

    def getCondition(self) -> str:  # noqa: N802  # as PySpark names it
        """Return the error condition."""
        return self.condition

    getErrorClass = getCondition  # noqa: N815  # as above

    def getSqlState(self) -> str:  # noqa: N802  # as PySpark names it
        """Return the SQLSTATE of the condition."""
        return _SQL_STATES.get(self.condition.partition(".")[0], "42000")

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802  # as PySpark names it
        """Return an empty dictionary: Auto Loader keeps no parameters."""
        return {}

    def getMessage(self) -> str:  # noqa: N802  # as PySpark names it
        """Return the full text."""
        return str(self)

    def __str__(self) -> str:
        text = f"[{self.condition}] {self.message}"
        return f"{text} {self.next_step}" if self.next_step else text


class CloudFilesAnalysisException(_Conditioned, AnalysisException):
    """A stream could not be defined or started."""


class CloudFilesQueryException(_Conditioned, StreamingQueryException):
    """A running stream failed."""


class CloudFilesReadException(_Conditioned, PythonException):
    """A query could not read its files, as `read_files` in mode FAILFAST."""


class UnknownFieldQueryException(_Conditioned, UnknownFieldException, StreamingQueryException):
    """A running stream found new fields."""


_SQL_STATES = {
    "FAILED_READ_FILE": "KD001",
    "PARQUET_TYPE_ILLEGAL": "42846",
    "UNKNOWN_FIELD_EXCEPTION": "KD003",
    "CF_ADD_NEW_NOT_SUPPORTED": "0A000",
    "CF_INCORRECT_BATCH_USAGE": "42887",
    "CF_INCORRECT_STREAM_USAGE": "42887",
    "CF_UNSUPPORTED_CLEAN_SOURCE_MOVE": "0A000",
}


def to_analysis_exception(error: CloudFilesError) -> CloudFilesAnalysisException:
    """Return the error as an AnalysisException, which is what Spark raises at `load` and `start`."""
    return CloudFilesAnalysisException(error.condition, error.message, next_step=error.next_step)


def find_cloud_files_error(error: BaseException) -> CloudFilesError | None:
    """Return the Auto Loader error of a worker inside a Spark exception, or None."""
    if isinstance(error, CloudFilesError):
        return error
    match = _WRAPPED_ERROR.search(full_text(error))
    if match is None:
        return None
    kind = UnknownFieldException if match[1] == "UnknownFieldException" else CloudFilesError
    return kind(match[2], match[3].strip())


def translate_query_exception(error: Any) -> Any:
    """Return the wrapped Auto Loader error as a StreamingQueryException; others unchanged."""
    wrapped = None if error is None else find_cloud_files_error(error)
    if wrapped is None:
        return error
    is_drift = isinstance(wrapped, UnknownFieldException)
    kind = UnknownFieldQueryException if is_drift else CloudFilesQueryException
    return kind(wrapped.condition, wrapped.message)


def translate_read_exception(error: Any) -> Any:
    """Return the Auto Loader error of a batch as an exception with its condition; others unchanged.

    A query gives a PythonException; a write of Delta wraps it in an exception that PySpark does not know.
    """
    is_candidate = isinstance(error, (PythonException, UnknownException))
    wrapped = find_cloud_files_error(error) if is_candidate else None
    if wrapped is None:
        return error
    return CloudFilesReadException(wrapped.condition, wrapped.message)


def batch_usage_error() -> CloudFilesError:
    """Return the error for `spark.read.format("cloudFiles")`."""
    return CloudFilesError(
        "CF_INCORRECT_BATCH_USAGE",
        "cloudFiles is a streaming source; it was used with spark.read.",
        next_step="Use spark.readStream, or spark.read with the file format itself.",
    )


def unsupported_usage_error() -> CloudFilesError:
    """Return the error for access that bypasses `spark.readStream.format("cloudFiles").load(…)`."""
    return CloudFilesError(
        "CF_INCORRECT_STREAM_USAGE",
        "The cloudFiles source was used without spark.readStream.",
        next_step='Use spark.readStream.format("cloudFiles")….load(path).',
    )
