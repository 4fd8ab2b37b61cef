"""Errors of cells: the condition, the message, and the place in the notebook."""

from __future__ import annotations

import linecache
import shlex
import traceback
from collections.abc import Collection
from dataclasses import dataclass

from lakeward.error_formatting import describe_error, sql_position
from lakeward.python_grammar import newer_python_hint
from lakeward.user_code import is_user_file


@dataclass(frozen=True)
class CellError:
    """An error of a cell: condition, message and location in the user's files."""

    cell: int
    condition: str
    message: str
    place: str
    trace: tuple[str, ...]

    def __str__(self) -> str:
        shown = f"\n    {self.trace[-1].strip()}" if self.trace else ""
        return f"[{self.condition}] cell {self.cell}, {self.place}: {self.message}{shown}"


def _names_pipeline_api(error: BaseException) -> bool:
    """Return whether the error is that of a name which only pipelines provide.

    Spark's own `pyspark.pipelines` has a part of the names alone: no expectations, no AUTO CDC.
    """
    if isinstance(error, ModuleNotFoundError):
        return error.name == "dlt"
    if isinstance(error, ImportError):
        return error.name == "pyspark.pipelines"
    return isinstance(error, AttributeError) and getattr(error.obj, "__name__", "") == "pyspark.pipelines"


def _next_step(error: BaseException, condition: str, file: str) -> str:
    """Return the remedy for an error whose message does not have it."""
    if (
        not _names_pipeline_api(error)
        and condition != "GRAPH_ELEMENT_DEFINED_OUTSIDE_OF_DECLARATIVE_PIPELINE"
    ):
        return ""
    path = shlex.quote(file.partition("#cell-")[0])
    return f"\nThe file declares datasets of a pipeline. Run it as one: lakeward pipeline {path}"


# An attribute of the error, whose class is what users catch.
_STATEMENT = "_lakeward_statement"


def record_statement(error: BaseException, line: int, text: str) -> None:
    """Record the statement of a SQL cell that raised `error`, unless an inner cell has recorded its own."""
    if not hasattr(error, _STATEMENT):
        setattr(error, _STATEMENT, (line, text))


def explain_error(
    error: BaseException, cell: int, *, file: str, line: int, files: Collection[str]
) -> CellError:
    """Return the error of cell `cell`, which begins at `line` of `file`; `files` may be named."""
    if isinstance(error, SyntaxError) and error.filename:
        return _explain_syntax(error, cell, line)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename in files or is_user_file(frame.filename)
    ]
    frames = [frame for frame in frames if not frame.filename.startswith("<")]
    description = describe_error(error)
    condition = description.condition or description.name
    message = (description.message or description.name) + _next_step(error, condition, file)
    if frames:
        place = f"{frames[-1].filename}:{frames[-1].lineno}"
    else:
        statement: tuple[int, str] | None = getattr(error, _STATEMENT, None)
        position = sql_position(str(error)) or statement or (line,)
        place = f"{file}:{position[0]}"
        if statement is not None:
            shown = () if statement[1] in message else (statement[1],)
            return CellError(cell, condition, message, place, shown)
    trace = tuple(
        linecache.getline(frame.filename, frame.lineno or 0).rstrip("\n")
        or f"{frame.filename}:{frame.lineno}"
        for frame in frames
    )
    return CellError(cell, condition, message, place, trace)


def _explain_syntax(error: SyntaxError, cell: int, line: int) -> CellError:
    # Python 3.11 takes the text of an error in an f-string from the file, at the line of the cell.
    text = (linecache.getline(str(error.filename), error.lineno or 0) or error.text or "").strip()
    place = f"{error.filename}:{error.lineno or line}"
    hint = newer_python_hint(error)
    message = f"{error.msg}\n{hint}" if hint else error.msg
    return CellError(cell, "SyntaxError", message, place, (text,) if text else ())
