"""What the texts of a column look like, told from all of them together."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["one_form", "only_of"]

_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def only_of(column: pa.StringArray, characters: bytes) -> bool:
    """Whether the texts hold no others than these ASCII characters."""
    return not _content(column).translate(None, characters)


def one_form(column: pa.StringArray) -> str | None:
    """The form of all texts, with 0 for each digit; None where they differ, and where there are none."""
    lengths = pc.min_max(pc.binary_length(column))
    width = lengths["min"].as_py()
    if not width or lengths["max"].as_py() != width:
        return None
    forms = _content(column).translate(_DIGITS)
    form = forms[:width]
    return form.decode() if form.isascii() and forms == form * (len(forms) // width) else None


def _content(column: pa.StringArray) -> bytes:
    """All texts, one behind the other."""
    _, offsets, content = column.buffers()
    if content is None or not len(column):
        return b""
    ends = memoryview(offsets).cast("i")
    return bytes(memoryview(content)[ends[column.offset] : ends[column.offset + len(column)]])
