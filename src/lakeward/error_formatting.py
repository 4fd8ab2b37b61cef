"""Describe any error to a user: condition and message, without plan, JVM stack and repeated condition."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.errors import LakewardError
from lakeward.session import condition_of, message_of


@dataclass(frozen=True)
class ErrorDescription:
    """An error as users read it.

    Attributes:
        condition: The platform's or lakeward's condition; None for a plain Python exception.
        message: What happened, and the next step if there is one. May contain secrets: redact before output.
        name: The name of the exception's class.
    """

    condition: str | None
    message: str
    name: str

    def __str__(self) -> str:
        if self.condition is not None:
            return f"[{self.condition}] {self.message}"
        return f"{self.name}: {self.message}" if self.message else self.name


def describe_error(error: BaseException) -> ErrorDescription:
    """Return condition and message of an error of lakeward, Spark, the JVM or Python.

    >>> str(describe_error(ValueError("what?")))
    'ValueError: what?'
    >>> str(describe_error(LakewardError("TASK_INVALID", "It has no key.", next_step="Add one.")))
    '[TASK_INVALID] It has no key. Add one.'
    """
    name = type(error).__name__
    if isinstance(error, LakewardError):
        return ErrorDescription(error.condition, error.text, name)
    condition = condition_of(error)
    text = message_of(error)
    return ErrorDescription(condition, text.removeprefix(f"[{condition}] ") if condition else text, name)
