"""A Spark schema as a msgspec type: records that fit it exactly are decoded whole, in C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

__all__ = ["fast_type", "record_type"]

_RANGES = {"byte": 7, "short": 15, "integer": 31, "long": 63}


def fast_type(dtype: DataType) -> Any:
    """The msgspec type of values that the Spark type takes as they are; None where each needs a look."""
    name = dtype.typeName()
    if name == "string":
        return str | None
    if name in _RANGES:
        limit = 1 << (_RANGES[name] if name != "long" else 62)
        return Annotated[int, msgspec.Meta(ge=-limit, le=limit - 1)] | None
    if name in ("double", "float"):
        return float | None
    if name == "boolean":
        return bool | None
    if name == "array":
        inner = fast_type(dtype.elementType)  # type: ignore[attr-defined]
        return None if inner is None else list[inner] | None  # type: ignore[valid-type]  # made at run time
    if name == "struct":
        return _struct(dtype)  # type: ignore[arg-type]
    return None


def record_type(fields: dict[str, Any]) -> Any:
    """A record with these members; attributes are `f0`, `f1`, …; unknown members fail."""
    return msgspec.defstruct(
        "Record",
        [(f"f{i}", kind, None) for i, kind in enumerate(fields.values())],
        rename={f"f{i}": name for i, name in enumerate(fields)},
        forbid_unknown_fields=True,
        gc=False,
    )


def _struct(dtype: StructType) -> Any:
    inner = {field.name: fast_type(field.dataType) for field in dtype.fields}
    return None if not inner or None in inner.values() else record_type(inner) | None
