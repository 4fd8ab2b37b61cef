"""A debugger that stops at breakpoints by file and line, as those of editors do, and continues."""

from __future__ import annotations

import bdb
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class Breakpoints(bdb.Bdb):
    """Use it around the code: `stops` holds file name, line and local variables of each stop."""

    def __init__(self, *places: tuple[Path, str]) -> None:
        super().__init__()
        self.stops: list[tuple[str, int, dict[str, Any]]] = []
        for file, text in places:
            problem = self.set_break(str(file), line_of(file, text))
            assert problem is None, problem

    def user_line(self, frame: FrameType) -> None:
        """Record a stop; lines without a breakpoint are passed."""
        file = self.canonic(frame.f_code.co_filename)
        if frame.f_lineno in self.breaks.get(file, ()):
            self.stops.append((Path(file).name, frame.f_lineno, dict(frame.f_locals)))
        self.set_continue()

    def set_continue(self) -> None:
        """Go on, and keep tracing: without it, Bdb stops to trace once no breakpoint is near."""
        self._set_stopinfo(self.botframe, None, -1)  # type: ignore[attr-defined]  # not in the stubs

    def __enter__(self) -> Self:
        self.reset()
        self.botframe = sys._getframe()
        self.set_continue()
        self._before = sys.gettrace()
        sys.settrace(self.trace_dispatch)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)


def line_of(file: Path, text: str) -> int:
    """Return the number of the only line of a file with this text."""
    (number,) = [n for n, line in enumerate(file.read_text().splitlines(), start=1) if text in line]
    return number
