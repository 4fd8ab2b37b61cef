"""Raw JSON values → a column of strings at once: texts without their quotes, all else as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["texts_of"]


def texts_of(raws: Sequence[Any]) -> pa.Array | None:
    """The strings; None where a value needs a look of its own, as one with an escape does."""
    if not set(map(type, raws)) <= {msgspec.Raw, type(None)}:
        return None
    column = pa.array([None if raw is None else bytes(raw) for raw in raws], pa.binary())
    is_text = pc.equal(pc.binary_slice(column, 0, 1), b'"')
    escaped = pc.and_(is_text, pc.match_substring(column, "\\"))
    if pc.any(escaped).as_py():
        return None
    texts = pc.if_else(is_text, pc.binary_slice(column, 1, -1), column)
    try:
        return pc.if_else(pc.equal(column, b"null"), pa.scalar(None, pa.binary()), texts).cast(pa.string())
    except pa.ArrowInvalid:
        return None
