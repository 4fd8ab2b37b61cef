"""Versions of snapshots: which values can be one, how they are kept, and their order (spec §3.5.3)."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["check_version", "from_json", "literal", "refused", "to_json"]

# Name, SQL type, to text, from text. The first type that fits holds: a datetime is a date, too.
_KINDS: dict[type, tuple[str, str, Callable[[Any], str], Callable[[str], Any]]] = {
    datetime: ("datetime", "timestamp", datetime.isoformat, datetime.fromisoformat),
    date: ("date", "date", date.isoformat, date.fromisoformat),
    int: ("int", "bigint", str, int),
    str: ("str", "string", str, str),
    float: ("float", "double", repr, float),
    Decimal: ("decimal", "decimal(38,18)", str, Decimal),
    bytes: ("bytes", "binary", lambda raw: base64.b64encode(raw).decode(), base64.b64decode),
}


def refused(condition: str, flow: str, said: str, next_step: str | None = None) -> PipelineError:
    """The error about a snapshot of `flow` under the platform's condition."""
    return PipelineError(
        f"APPLY_CHANGES_FROM_SNAPSHOT_ERROR.{condition}", f"The flow `{flow}` {said}", next_step=next_step
    )


def check_version(version: Any, last: Any, flow: str) -> None:
    """Raise PipelineError for a version that cannot be one, or that does not come after `last`."""
    if type(version).__name__ == "Column":
        raise refused(
            "DYNAMIC_SNAPSHOT_VERSION",
            flow,
            "got a Column as the version of its snapshot.",
            "A version is a Python value that is known before the snapshot is read.",
        )
    if not _is_version(version):
        names = ", ".join(name for name, *_ in _KINDS.values())
        raise refused(
            "INVALID_SNAPSHOT_VERSION_TYPE",
            flow,
            f"got {version!r} as the version of its snapshot, which is of type {type(version).__name__}.",
            f"A version is one of: {names}.",
        )
    if isinstance(version, float | Decimal) and math.isnan(version):
        raise refused("SNAPSHOT_VERSION_NOT_SORTABLE", flow, "got NaN as the version of its snapshot.")
    if last is None:
        return
    try:
        is_older = version < last
    except TypeError:
        raise refused(
            "SNAPSHOT_VERSION_NOT_SORTABLE",
            flow,
            f"got the version {version!r} after {last!r}: they cannot be compared.",
            "Keep to one type of versions, or refresh the table fully.",
        ) from None
    if is_older or version == last:
        raise refused(
            "OUT_OF_ORDER_SNAPSHOT_VERSION",
            flow,
            f"got the version {version!r} after {last!r}.",
            "Versions ascend; return None when there is no newer snapshot.",
        )


def _is_version(value: Any) -> bool:
    """A Row is one, too: the version of a SQL flow may be a struct."""
    from pyspark.sql import Row

    if isinstance(value, Row):
        return all(map(_is_version, value))
    return isinstance(value, tuple(_KINDS)) and not isinstance(value, bool)


def literal(version: Any) -> Column:
    """A version as a column, of the type that versions like this one have in the target."""
    from pyspark.sql import Row
    from pyspark.sql import functions as F

    if isinstance(version, Row):
        parts = version.asDict().items()
        return F.struct(*[literal(value).alias(name) for name, value in parts])
    return F.lit(version).cast(_kind(version)[1])


def to_json(version: Any) -> list[str]:
    """A version with its Python type."""
    from pyspark.sql import Row

    if isinstance(version, Row):
        parts = {name: to_json(value) for name, value in version.asDict().items()}
        return ["struct", json.dumps(parts)]
    name, _, to_text, _ = _kind(version)
    return [name, to_text(version)]


def from_json(kept: list[str]) -> Any:
    """The version that `to_json` wrote."""
    from pyspark.sql import Row

    name, text = kept
    if name == "struct":
        return Row(**{part: from_json(value) for part, value in json.loads(text).items()})
    return next(from_text for kind, _, _, from_text in _KINDS.values() if kind == name)(text)


def _kind(version: Any) -> tuple[str, str, Callable[[Any], str], Callable[[str], Any]]:
    return next(kind for python, kind in _KINDS.items() if isinstance(version, python))
