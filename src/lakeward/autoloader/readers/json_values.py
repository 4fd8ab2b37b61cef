"""Raw JSON values to values of Spark types, or to the JSON that is rescued (AL-4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.text_parsing import RANGES, parse_decimal, value_parser
from lakeward.autoloader.readers.batch_builder import join_json_object, to_json

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Outcome = tuple[Any, "str | None"]
Read = Callable[[bytes], Outcome]

_text = msgspec.json.Decoder(str).decode
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_INTEGER = frozenset(b"-0123456789")


def rescued_json_value(raw: bytes) -> str:
    """Return a value for the rescued column: scalars verbatim, objects and arrays as strings."""
    text = raw.decode("utf-8", "replace")
    return to_json(text) if raw[:1] in (b"{", b"[") else text


@dataclass(frozen=True)
class MatchRules:
    """Whether names are case-sensitive and nested members without a field are reported."""

    case_sensitive: bool = True
    report_unknown: bool = True


def json_value_reader(
    dtype: DataType, formats: TextFormats, rules: MatchRules = MatchRules()
) -> Read:  # frozen
    """Return a function from raw JSON to (value, None), or (partial value, JSON that did not fit)."""
    name = dtype.typeName()
    if name == "string":
        return _string
    if name in RANGES:
        limit = 1 << RANGES[name]
        return lambda raw: _integer(raw, limit)
    if name == "struct":
        return _struct(dtype, formats, rules)
    if name == "array":
        return _array(json_value_reader(dtype.elementType, formats, rules))  # type: ignore[attr-defined]
    if name == "map":
        return _map(json_value_reader(dtype.valueType, formats, rules))  # type: ignore[attr-defined]
    return _scalar(dtype, formats)


def _string(raw: bytes) -> Outcome:
    first = raw[:1]
    if first == b'"':
        return _text(raw), None
    return (None if raw == b"null" else raw.decode("utf-8", "replace")), None


def _integer(raw: bytes, limit: int) -> Outcome:
    if raw == b"null":
        return None, None
    if _INTEGER.issuperset(raw):
        value = int(raw) if len(raw) < 40 else limit
        if -limit <= value < limit:
            return value, None
    return None, rescued_json_value(raw)


def _scalar(dtype: DataType, formats: TextFormats) -> Read:
    name, parse = dtype.typeName(), value_parser(dtype, formats)
    words = dict(formats.special)

    def read(raw: bytes) -> Outcome:
        value: Any = None
        first = raw[:1]
        if raw == b"null":
            return None, None
        if first == b'"':
            text = _text(raw)
            if name in ("float", "double"):
                value = words.get(text)
            elif name != "boolean" and (text or name == "binary"):
                value = parse(text)
        elif name == "boolean":
            value = {b"true": True, b"false": False}.get(raw)
        elif first in b"-0123456789":
            if name in ("float", "double"):
                value = float(raw)
            elif name == "decimal":
                value = parse_decimal(raw.decode(), dtype.precision, dtype.scale)  # type: ignore[attr-defined]
            elif name == "timestamp" and _INTEGER.issuperset(raw) and len(raw) < 14:
                value = int(raw) * 1_000_000
        return (value, None) if value is not None else (None, rescued_json_value(raw))

    return read


def _struct(dtype: Any, formats: TextFormats, rules: MatchRules) -> Read:
    reads = {f.name: json_value_reader(f.dataType, formats, rules) for f in dtype.fields}
    spelled = {} if rules.case_sensitive else {name.lower(): name for name in reads}

    def read(raw: bytes) -> Outcome:
        if raw[:1] != b"{":
            return None, None if raw == b"null" else rescued_json_value(raw)
        value: dict[str, Any] = {}
        rest: list[tuple[str, str]] = []
        for key, member in _members(raw).items():
            inner = bytes(member)
            name = key if key in reads else spelled.get(key.lower(), key)
            problem: str | None = None
            if name in reads:
                value[name], problem = reads[name](inner)
            elif rules.report_unknown:
                problem = rescued_json_value(inner)
            if problem is not None:
                rest.append((key, problem))
        return value, join_json_object(rest) if rest else None

    return read


def _array(element: Read) -> Read:
    def read(raw: bytes) -> Outcome:
        if raw[:1] != b"[":
            return None, None if raw == b"null" else rescued_json_value(raw)
        outcomes = [element(bytes(item)) for item in _elements(raw)]
        if any(problem is not None for _, problem in outcomes):
            return None, rescued_json_value(raw)
        return [value for value, _ in outcomes], None

    return read


def _map(item: Read) -> Read:
    def read(raw: bytes) -> Outcome:
        if raw[:1] != b"{":
            return None, None if raw == b"null" else rescued_json_value(raw)
        outcomes = [(key, *item(bytes(member))) for key, member in _members(raw).items()]
        if any(problem is not None for _, _, problem in outcomes):
            return None, rescued_json_value(raw)
        return [(key, value) for key, value, _ in outcomes], None

    return read
