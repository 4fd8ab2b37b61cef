"""Calls that seem to come from a line of the user's SQL file, so that places and errors are told as such.

Whatever looks at frames (the registry's places, `blame`, a debugger) then needs to know nothing of SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lakeward.pipelines.in_sql.text import Piece

__all__ = ["calling", "function_at"]

_POSITION = re.compile(r"\(?line (\d+),? pos(?:ition)? (\d+)\)?")


def calling(piece: Piece, call: Callable[[], Any]) -> Any:
    """Call `call` from the statement's line. What it raises goes through."""
    code = compile("\n" * (piece.line - 1) + "call()", piece.file, "exec", dont_inherit=True)
    exec(code, {"call": call})  # noqa: S102  # one call of ours, compiled for its place alone
    return None


def function_at(piece: Piece, name: str, call: Callable[[], Any]) -> Callable[[], Any]:
    """A function that stands on the statement's line and gives what `call` gives."""
    code = compile(
        "\n" * (piece.line - 1) + "def query(): return call()", piece.file, "exec", dont_inherit=True
    )
    space: dict[str, Any] = {"call": _placed(piece, call)}
    exec(code, space)  # noqa: S102  # as above
    function: Callable[[], Any] = space["query"]
    function.__name__ = function.__qualname__ = name
    return function


def _placed(piece: Piece, call: Callable[[], Any]) -> Callable[[], Any]:
    """What Spark says of a position is put on the error itself: `blame` shows it as the error's place."""

    def placed() -> Any:
        try:
            return call()
        except Exception as error:
            position = _POSITION.search(str(error))
            if position is not None:
                line, column = int(position[1]), int(position[2])
                # Spark counts positions from 0 in one kind of its errors and from 1 in the other.
                column += "position" not in position[0]
                error.__dict__.setdefault("user_place", f"{piece.file}:{line}:{column}")
            raise

    return placed
