"""The lines of a part of a file."""

from __future__ import annotations

from typing import Any, Protocol


class ByteStream(Protocol):
    """An opened file."""

    def seek(self, position: int, /) -> Any:
        """Continue at this position."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes, none at the end."""


def read_lines(stream: ByteStream, start: int, end: int) -> bytes:
    """Return the lines that begin from position `start` up to `end`, the last one as a whole."""
    before = max(start - 1, 0)
    stream.seek(before)
    data = stream.read(end - before)
    first = data.find(b"\n") + 1 if start else 0
    if start and not first:
        return b""
    rest = []
    if data and not data.endswith(b"\n"):
        while more := stream.read(1 << 16):
            rest.append(more[: more.find(b"\n") + 1] or more)
            if rest[-1].endswith(b"\n"):
                break
    return b"".join([data[first:], *rest])
