"""The log of a task: what its process printed, as bytes, up to a size."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path

from lakeward.dbutils import known_secrets, redacted

__all__ = ["LARGEST", "TaskLog"]

LARGEST = 8 * 1024 * 1024
_TAIL = 16 * 1024
_LINES = 20
_LONGEST_LINE = 64 * 1024


class TaskLog:
    """Takes output in pieces: into `file` up to `largest` bytes, and as text to `show`.

    What is beyond that is counted and dropped but for the end, which `close` appends. Secrets that the task
    was given are redacted, whatever printed them; once it has one, the beginning of a line waits for its end.
    """

    def __init__(self, file: Path, show: Callable[[str], object], *, largest: int = LARGEST) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file.open("wb", buffering=0)
        self._show = show
        self._largest = largest
        self._size = 0
        self._tail = b""
        self._held = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, piece: bytes) -> None:
        """Take what was printed next."""
        if known_secrets():
            whole, newline, self._held = (self._held + piece).rpartition(b"\n")
            piece = _redacted(whole + newline)
            if len(self._held) > _LONGEST_LINE:
                piece, self._held = piece + _redacted(self._held), b""
        self._take(piece)

    def _take(self, piece: bytes) -> None:
        room = max(0, self._largest - self._size)
        kept = piece[:room]
        self._size += len(piece)
        self._tail = (self._tail + piece)[-_TAIL:]
        if kept:
            self._file.write(kept)
            self._show(self._decoder.decode(kept))

    def close(self) -> None:
        """End the log, and say in it how much it lacks."""
        self._take(_redacted(self._held))
        dropped = self._size - self._largest
        if dropped > 0:
            end = self._tail[-min(dropped, _TAIL) :]
            told = (
                f"\n[lakeward: the log is kept up to {self._largest:,} bytes; {dropped:,} more were printed, "
                f"of which these are the last]\n"
            )
            self._file.write(told.encode() + end)
            self._show(told + end.decode(errors="replace"))
        self._file.close()

    @property
    def last_lines(self) -> str:
        """The last lines that were printed; empty when nothing was."""
        return "\n".join(self._tail.decode(errors="replace").rstrip().splitlines()[-_LINES:])


def _redacted(data: bytes) -> bytes:
    # Whatever is no text comes out as it went in.
    return redacted(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
