"""Errors of user files with the file, the line and its text."""

from __future__ import annotations

import linecache
import re
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.dbutils import redact
from lakeward.error_formatting import describe_error
from lakeward.errors import LakewardError, PipelineError
from lakeward.python_grammar import newer_python_hint
from lakeward.session import is_disk_full, message_of
from lakeward.user_code import is_user_file

if TYPE_CHECKING:
    from lakeward.pipelines.graph.elements import Dataset, SourceCodeLocation

_LOCATION = re.compile(r"(.*?):(\d+)(?::\d+)?")
# A frame in the text of an error: the traceback of a Python worker.
_FRAME = re.compile(r'^ *File "(/.+)", line (\d+), in ', re.MULTILINE)


def with_source_location(
    error: BaseException, *, what: str, folders: tuple[Path, ...], declared: object = None
) -> PipelineError:
    """Return an error with the location in the user's files for `error`, raised while `what` was processed.

    The location is the innermost frame in a file below `folders`, of the error itself or of the Python worker
    that it quotes; frames of lakeward, PySpark and the standard library are never shown. Where no frame is
    the user's, it is the place where `what` is `declared`.
    """
    if isinstance(error, PipelineError) and str(error).startswith("[") and ":" in error.message[:200]:
        where = _user_location(error, folders)
        return error if where is None or where in error.message else _with_location(error, where)
    if is_disk_full(error):
        return PipelineError(
            "DISK_FULL",
            f"No space is left on the disk for {what}; its table is unchanged.",
            next_step="Free some space, or move the state folder with LAKEWARD_HOME, and run again.",
        )
    condition = describe_error(error).condition or "PIPELINE_SOURCE_FAILED"
    if isinstance(error, SyntaxError) and error.filename:
        text = (error.text or "").strip("\n")
        line = f"{error.filename}:{error.lineno}"
        shown = f"\n    {text.strip()}" if text.strip() else ""
        hint = newer_python_hint(error)
        hint = f" {hint}" if hint else ""
        return PipelineError("PIPELINE_SOURCE_SYNTAX_ERROR", f"{line}: {error.msg}.{hint}{shown}")
    where, text = _user_location(error, folders), error_message(error)
    if hasattr(error, "user_location"):
        # The line of the user's file is shown; Spark would repeat the statement.
        text = text.partition("\n\n== SQL")[0]
    if where is None and declared is not None:
        return PipelineError(condition, f"{declared}: {what}: {text}{_source_line(str(declared))}")
    return PipelineError(condition, f"{where or what}: {text}{_source_line(where)}")


def place_of(dataset: Dataset) -> SourceCodeLocation:
    """Return where to look for an error of a dataset: its only flow, else its declaration."""
    return dataset.flows[0].location if len(dataset.flows) == 1 else dataset.location


def _with_location(error: PipelineError, where: str) -> PipelineError:
    return PipelineError(
        error.condition, f"{where}: {error.message}{_source_line(where)}", next_step=error.next_step
    )


def _user_location(error: BaseException, folders: tuple[Path, ...]) -> str | None:
    location = getattr(error, "user_location", None)
    if location is not None:
        return str(location)
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    frames = [*_FRAME.findall(message_of(error)), *frames]
    # Frames of compiled packages have paths that are not absolute: pyarrow/error.pxi.
    own = [
        frame
        for frame in frames
        if folders and Path(frame[0]).is_absolute() and is_user_file(frame[0], folders)
    ]
    return ":".join(map(str, own[-1])) if own else None


def _source_line(where: str | None) -> str:
    if where is None:
        return ""
    found = _LOCATION.fullmatch(where)
    if found:
        linecache.checkcache(found[1])
    text = linecache.getline(found[1], int(found[2])).strip() if found else ""
    return f"\n    {text}" if text else ""


def error_message(error: BaseException) -> str:
    """Return the message without plan, JVM stack, repeated condition and secrets."""
    description = describe_error(error)
    is_plain = not isinstance(error, LakewardError) and not hasattr(error, "getCondition")
    if is_plain and not hasattr(error, "java_exception"):
        return redact(str(replace(description, condition=None)))
    return redact(description.message)


def error_chain(error: BaseException) -> list[str]:
    """Return the messages of an error and of all its causes, including those in the JVM."""
    messages = [str(error)]
    if error.__cause__ is not None:
        messages += error_chain(error.__cause__)
    java = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    depth = 0
    while java is not None and depth < 20:
        messages.append(str(java.getMessage()))
        java, depth = java.getCause(), depth + 1
    return messages
