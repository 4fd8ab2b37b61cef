"""Parameters of statements as Thrift has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.workspace.state.store import Document


def statement_parameters(given: Sequence[Any]) -> list[Document]:
    """Return the parameters of a statement as the warehouse takes them: in order, or by name.

    Drivers may send those with an ordinal in any order.
    """
    ordered = sorted(given, key=lambda each: each.ordinal or 0)
    return [{"name": each.name, **_typed(each.type, _text(each.value), each.arguments)} for each in ordered]


def _typed(kind: str | None, value: str | None, arguments: Sequence[Any] | None) -> Document:
    if arguments is None:
        return {"type": kind, "value": value}
    return {"type": kind, "items": [_typed(each.type, each.value, each.arguments) for each in arguments]}


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if value.booleanValue is not None:
        return str(value.booleanValue).lower()
    if value.doubleValue is not None:
        return repr(value.doubleValue)
    text: str | None = value.stringValue
    return text
