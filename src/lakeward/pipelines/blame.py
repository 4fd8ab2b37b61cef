"""Turns what a user's file raised into an error that names the file, the line and its text."""

from __future__ import annotations

import linecache
import re
import traceback
from pathlib import Path

from lakeward.dbutils import redacted
from lakeward.errors import LakewardError, PipelineError
from lakeward.session import condition_of, is_disk_full, message_of

__all__ = ["blame", "causes", "clean"]

_OURS = str(Path(__file__).parents[1])
_WHERE = re.compile(r"(.*?):(\d+)(?::\d+)?")


def blame(error: BaseException, *, what: str, folders: tuple[Path, ...] = ()) -> PipelineError:
    """The error to show for `error`, raised by a user's file while `what` was done.

    The line is the innermost one in a file below `folders`; frames of lakeward, PySpark and of the
    standard library are never shown.
    """
    if isinstance(error, PipelineError) and str(error).startswith("[") and ":" in error.message[:200]:
        where = _place(error, folders)
        return error if where is None or where in error.message else _located(error, where)
    if is_disk_full(error):
        return PipelineError(
            "DISK_FULL",
            f"No space was left on the disk while {what} was done; its table is as it was.",
            next_step="Free some space, or move the state folder with LAKEWARD_HOME, and run again.",
        )
    condition = _condition(error)
    if isinstance(error, SyntaxError) and error.filename:
        text = (error.text or "").strip("\n")
        line = f"{error.filename}:{error.lineno}"
        shown = f"\n    {text.strip()}" if text.strip() else ""
        return PipelineError("PIPELINE_SOURCE_SYNTAX_ERROR", f"{line}: {error.msg}.{shown}")
    where, text = _place(error, folders), clean(error)
    if hasattr(error, "user_place"):
        # The line of the user's file is shown; Spark would show the statement a second time.
        text = text.partition("\n\n== SQL")[0]
    return PipelineError(condition, f"{where or what}: {text}{_shown(where)}")


def _located(error: PipelineError, where: str) -> PipelineError:
    return PipelineError(
        error.condition, f"{where}: {error.message}{_shown(where)}", next_step=error.next_step
    )


def _place(error: BaseException, folders: tuple[Path, ...]) -> str | None:
    told = getattr(error, "user_place", None)
    if told is not None:
        return str(told)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if any(folder in Path(frame.filename).parents for folder in folders)
        and "site-packages" not in frame.filename
        and not frame.filename.startswith(_OURS)
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None


def _shown(where: str | None) -> str:
    if where is None:
        return ""
    found = _WHERE.fullmatch(where)
    text = linecache.getline(found[1], int(found[2])).strip() if found else ""
    return f"\n    {text}" if text else ""


def _condition(error: BaseException) -> str:
    if isinstance(error, LakewardError):
        return error.condition
    return condition_of(error) or "PIPELINE_SOURCE_FAILED"


def clean(error: BaseException) -> str:
    """The message alone: no plan, no JVM stack, no repeated condition, no secret."""
    return redacted(_text(error))


def _text(error: BaseException) -> str:
    if isinstance(error, LakewardError):
        return f"{error.message} {error.next_step}" if error.next_step else error.message
    text = message_of(error)
    if not hasattr(error, "getCondition") and not hasattr(error, "java_exception"):
        name = type(error).__name__
        return f"{name}: {text}" if text else name
    return text.removeprefix(f"[{condition_of(error)}] ")


def causes(error: BaseException) -> list[str]:
    """The messages of an error and of everything that it wraps, on the JVM's side too."""
    messages = [str(error)]
    if error.__cause__ is not None:
        messages += causes(error.__cause__)
    java = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    depth = 0
    while java is not None and depth < 20:
        messages.append(str(java.getMessage()))
        java, depth = java.getCause(), depth + 1
    return messages
