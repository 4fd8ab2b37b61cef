"""Raw JSON values → a column of strings at once: texts without their quotes, all else as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["texts_of"]

_NULL = msgspec.Raw(b"null")


def texts_of(raws: Sequence[Any]) -> pa.Array | None:
    """The strings; None where a value needs a look of its own, as one with an escape does."""
    kinds = set(map(type, raws))
    if not kinds <= {msgspec.Raw, type(None)}:
        return None
    column = _column([_NULL if raw is None else raw for raw in raws] if type(None) in kinds else raws)
    is_text = pc.equal(pc.binary_slice(column, 0, 1), b'"')
    escaped = pc.and_(is_text, pc.match_substring(column, "\\"))
    if pc.any(escaped).as_py():
        return None
    texts = pc.if_else(is_text, pc.binary_slice(column, 1, -1), column)
    try:
        return pc.if_else(pc.equal(column, b"null"), pa.scalar(None, pa.binary()), texts).cast(pa.string())
    except pa.ArrowInvalid:
        return None


def _column(raws: Sequence[Any]) -> pa.BinaryArray:
    """The values in bytes, put together without an object for each."""
    ends = np.zeros(len(raws) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, raws), np.int32, len(raws)), out=ends[1:])
    content = pa.py_buffer(b"".join(raws))
    return pa.Array.from_buffers(pa.binary(), len(raws), [None, pa.py_buffer(ends), content])
