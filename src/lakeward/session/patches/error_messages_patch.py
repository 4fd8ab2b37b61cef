"""Errors of Delta have a message in PySpark.

`getMessage` of PySpark's exceptions fills Spark's own templates, and fails for a condition of Delta, which is
not among them. PySpark calls it for every error with a position in a statement: the user got Py4J's error of
that call, and `except AnalysisException` did not catch it.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec, install


def install_error_messages_patches() -> None:
    """Let exceptions with a condition that Spark does not know have the message of the JVM's exception."""
    install(PATCHES)


def _get_message(before: Any) -> Any:
    from py4j.protocol import Py4JJavaError

    @wraps(before)
    def get_message(self: Any) -> str:
        try:
            return str(before(self))
        except Py4JJavaError:
            return str(self._origin.getMessage())

    return get_message


PATCHES = (
    PatchSpec(
        "pyspark.errors.exceptions.captured:CapturedException",
        "getMessage",
        "session",
        "errors of Delta have a message: Spark's templates do not have their conditions",
        _get_message,
    ),
)
