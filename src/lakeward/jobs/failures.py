"""What a user reads when their task raises: the exception, and the line of their own code."""

from __future__ import annotations

import traceback
from pathlib import Path

from lakeward.dbutils import redacted
from lakeward.errors import LakewardError
from lakeward.session import is_lost, jvm_lost

__all__ = ["described", "traced"]

_LIMIT = 4000
_LONGEST_TRACE = 16_000
_OURS = Path(__file__).resolve().parents[1]
_LIBRARIES = ("site-packages", "dist-packages")


def described(error: BaseException, root: Path) -> str:
    """Return type and message of `error` and the `file:line` of the innermost frame of the user's own code.

    Secrets are redacted. Files below `root` are shown relative to it. Frames of lakeward and of installed
    packages do not count.
    """
    if is_lost(error):
        return str(jvm_lost())
    if isinstance(error, LakewardError):
        text = str(error)
    elif isinstance(error, SystemExit):
        text = f"SystemExit: {error.code}"
    elif isinstance(error, SyntaxError):
        text = f"{type(error).__name__}: {error.msg}"
    else:
        text = f"{type(error).__name__}: {error}".rstrip(": \n")
    if len(text) > _LIMIT:
        text = f"{text[:_LIMIT]} … ({len(text) - _LIMIT} more characters)"
    place = _place(error, root)
    return redacted(f"{text} ({place})" if place else text)


def traced(error: BaseException) -> str | None:
    """Return the traceback of `error` from the user's outermost frame on; None for errors without one.

    Secrets are redacted. Of a very long one the end is returned, where the error is.
    """
    if isinstance(error, LakewardError | SystemExit) or is_lost(error):
        return None
    told = traceback.TracebackException.from_exception(error)
    own = next((number for number, frame in enumerate(told.stack) if _is_own(frame.filename)), None)
    if own is None and not isinstance(error, SyntaxError):
        return None
    told.stack = traceback.StackSummary.from_list(list(told.stack)[own:] if own is not None else [])
    return redacted("".join(told.format()))[-_LONGEST_TRACE:]


def _place(error: BaseException, root: Path) -> str | None:
    if isinstance(error, SyntaxError) and error.filename:
        return _shown(error.filename, error.lineno, root)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    return _shown(frames[-1].filename, frames[-1].lineno, root) if frames else None


def _is_own(filename: str) -> bool:
    if filename.startswith("<"):
        return False
    path = Path(filename).resolve()
    standard = Path(traceback.__file__).resolve().parent
    return not (
        path.is_relative_to(_OURS)
        or any(part in _LIBRARIES for part in path.parts)
        or (path.is_relative_to(standard) and not any(part in _LIBRARIES for part in path.parts))
    )


def _shown(filename: str, line: int | None, root: Path) -> str:
    path = Path(filename).resolve()
    shown = path.relative_to(root.resolve()) if path.is_relative_to(root.resolve()) else path
    return f"{shown}:{line}" if line else str(shown)
