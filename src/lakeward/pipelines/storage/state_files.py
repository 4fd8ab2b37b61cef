"""Small files of a pipeline's state: read with an error that names the file instead of a parser's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lakeward.errors import PipelineError

_T = TypeVar("_T")

# What parsers raise for a file that is empty, truncated, of another type or of other bytes.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, StopIteration)


def read_state_file(file: Path, what: str, parse: Callable[[str], _T], *, next_step: str) -> _T:
    """Return the parsed content of a file that lakeward wrote atomically.

    Args:
        file: The file; it exists.
        what: What it records, as the beginning of the message.
        parse: Returns the content; raises ValueError, KeyError or TypeError for anything else.
        next_step: How to repair it.

    Raises:
        PipelineError: PIPELINE_STATE_DAMAGED. Nothing is guessed: a table could lose rows or get them twice.
    """
    try:
        return parse(file.read_text(encoding="utf-8"))
    except _UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise PipelineError(
            "PIPELINE_STATE_DAMAGED",
            f"{what} cannot be read: {file} ({reason or type(error).__name__}).",
            next_step=next_step,
        ) from None
