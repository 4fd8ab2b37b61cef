"""What a cell raised, told with the user's file and line, without frames of ours and of Spark's."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.session import condition_of, message_of

__all__ = ["CellError", "told"]

_LINE = re.compile(r"\(?line (\d+),? pos(?:ition)? (\d+)\)?")
_ELSEWHERE = (str(Path(__file__).parents[1]), "site-packages", "/lib/python3")


@dataclass(frozen=True)
class CellError:
    """An error of a cell: its name, its text, and where in the user's files it came from."""

    cell: int
    condition: str
    message: str
    place: str
    trace: tuple[str, ...]

    def __str__(self) -> str:
        shown = f"\n    {self.trace[-1].strip()}" if self.trace else ""
        return f"[{self.condition}] cell {self.cell}, {self.place}: {self.message}{shown}"


def told(error: BaseException, cell: int, *, file: str, line: int, files: Collection[str]) -> CellError:
    """The error of cell `cell`, which begins at `line` of `file`; `files` are those that may be named."""
    if isinstance(error, SyntaxError) and error.filename:
        text = (error.text or "").strip()
        place = f"{error.filename}:{error.lineno or line}"
        return CellError(cell, "SyntaxError", error.msg, place, (text,) if text else ())
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename in files or not any(part in frame.filename for part in _ELSEWHERE)
    ]
    frames = [frame for frame in frames if not frame.filename.startswith("<")]
    if isinstance(error, LakewardError):
        message = f"{error.message} {error.next_step}" if error.next_step else error.message
        condition = error.condition
    else:
        condition = condition_of(error) or type(error).__name__
        message = message_of(error).removeprefix(f"[{condition}] ") or type(error).__name__
    if frames:
        place = f"{frames[-1].filename}:{frames[-1].lineno}"
    else:
        position = _LINE.search(str(error))
        place = f"{file}:{position[1]}" if position else f"{file}:{line}"
    trace = tuple(
        linecache.getline(frame.filename, frame.lineno or 0).rstrip("\n")
        or f"{frame.filename}:{frame.lineno}"
        for frame in frames
    )
    return CellError(cell, condition, message, place, trace)
