"""Describe any error to a user: condition and message, without plan, JVM stack and repeated condition."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.errors import LakewardError
from lakeward.session import condition_of, message_of
from lakeward.suggestions import similar_python_names

_SQL_POSITION = re.compile(r"\(?line (\d+),? pos(?:ition)? (\d+)\)?")


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
    >>> try:
    ...     "a".uper()
    ... except AttributeError as error:
    ...     str(describe_error(error))
    "AttributeError: 'str' object has no attribute 'uper'. Did you mean `upper`?"
    >>> str(describe_error(LakewardError("E", "No widget named x is defined", next_step="Declare it.")))
    '[E] No widget named x is defined. Declare it.'
    """
    name = type(error).__name__
    if isinstance(error, LakewardError):
        return ErrorDescription(error.condition, error.text, name)
    condition = condition_of(error)
    text = message_of(error)
    text = text.removeprefix(f"[{condition}] ") if condition else text
    near = similar_python_names(error)
    return ErrorDescription(condition, f"{text.removesuffix('.')}. {near}" if near else text, name)


def sql_position(text: str) -> tuple[int, int] | None:
    """Return line and column, both from 1, of the first place in a statement that an error of Spark names.

    >>> sql_position("[TABLE_OR_VIEW_NOT_FOUND] … line 2 pos 14;"), sql_position("(line 1, position 9)")
    ((2, 15), (1, 9))
    """
    found = _SQL_POSITION.search(text)
    if found is None:
        return None
    # Spark counts columns from 0 where it writes `pos`, and from 1 where it writes `position`.
    return int(found[1]), int(found[2]) + ("position" not in found[0])
