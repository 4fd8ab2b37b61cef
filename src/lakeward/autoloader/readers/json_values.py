"""Raw JSON members to values of Spark types or to rescued JSON (AL-1.5, AL-4.2).

msgspec decodes records whose members all match the types of `msgspec_type`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.text_parsing import RANGES, parse_decimal, value_parser
from lakeward.autoloader.readers.batch_builder import join_json_object, to_json
from lakeward.autoloader.readers.json_text import elements, raw_members

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


Outcome = tuple[Any, "str | None"]
Read = Callable[[bytes], Outcome]

_text = msgspec.json.Decoder(str).decode
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

    def loses(self, outcomes: Iterable[Outcome]) -> bool:
        """Return whether an array or map of these values is lost as a whole.

        Records of which some members do not fit stay, as in Spark, where no column rescues the others.
        """
        return any(
            problem is not None and (value is None or self.report_unknown) for value, problem in outcomes
        )


def json_value_reader(dtype: DataType, formats: TextFormats, rules: MatchRules) -> Read:
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
        return _array(json_value_reader(dtype.elementType, formats, rules), rules)  # type: ignore[attr-defined]
    if name == "map":
        return _map(json_value_reader(dtype.valueType, formats, rules), rules)  # type: ignore[attr-defined]
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
        for key, member in raw_members(raw).items():
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


def _array(element: Read, rules: MatchRules) -> Read:
    def read(raw: bytes) -> Outcome:
        if raw[:1] != b"[":
            return None, None if raw == b"null" else rescued_json_value(raw)
        outcomes = [element(bytes(item)) for item in elements(raw)]
        problem = _problem(raw, outcomes)
        if problem is not None and rules.loses(outcomes):
            return None, problem
        return [value for value, _ in outcomes], problem

    return read


def _map(item: Read, rules: MatchRules) -> Read:
    def read(raw: bytes) -> Outcome:
        if raw[:1] != b"{":
            return None, None if raw == b"null" else rescued_json_value(raw)
        outcomes = {key: item(bytes(member)) for key, member in raw_members(raw).items()}
        problem = _problem(raw, outcomes.values())
        if problem is not None and rules.loses(outcomes.values()):
            return None, problem
        return [(key, value) for key, (value, _) in outcomes.items()], problem

    return read


def _problem(raw: bytes, outcomes: Iterable[Outcome]) -> str | None:
    return rescued_json_value(raw) if any(problem is not None for _, problem in outcomes) else None


# msgspec refuses these characters in names.
_IRREGULAR_NAME = re.compile(r'["\\\x00-\x1f]')


def msgspec_type(dtype: DataType) -> Any:
    """Return the msgspec type of values that need no conversion; None if each must be checked."""
    name = dtype.typeName()
    if name == "string":
        return str | None
    if name in RANGES:
        limit = 1 << (RANGES[name] if name != "long" else 62)
        return Annotated[int, msgspec.Meta(ge=-limit, le=limit - 1)] | None
    if name in ("double", "float"):
        return float | None
    if name == "boolean":
        return bool | None
    if name == "array":
        inner = msgspec_type(dtype.elementType)  # type: ignore[attr-defined]
        return None if inner is None else list[inner] | None  # type: ignore[valid-type]  # made at run time
    if name == "struct":
        return _msgspec_struct(dtype)  # type: ignore[arg-type]
    return None


def msgspec_record_type(fields: dict[str, Any], raw: Sequence[str] = ()) -> Any:
    """Return a record type with attributes `f0`, `f1`, …; other members are rejected.

    Members `raw` are the attributes `u0`, `u1`, …, with their JSON text as value.
    """
    kinds = [(f"f{i}", kind, None) for i, kind in enumerate(fields.values())]
    others = [(f"u{i}", msgspec.Raw, None) for i in range(len(raw))]
    # A record with an irregular name is rejected, and parsed member by member.
    names = [f"\ue000{i}" if _IRREGULAR_NAME.search(name) else name for i, name in enumerate((*fields, *raw))]
    attributes = [attribute for attribute, *_ in (*kinds, *others)]
    return msgspec.defstruct(
        "Record",
        [*kinds, *others],
        rename=dict(zip(attributes, names, strict=True)),
        forbid_unknown_fields=True,
        gc=False,
    )


def _msgspec_struct(dtype: StructType) -> Any:
    inner = {field.name: msgspec_type(field.dataType) for field in dtype.fields}
    return None if not inner or None in inner.values() else msgspec_record_type(inner) | None


_NULL = msgspec.Raw(b"null")


def raw_strings(raws: Sequence[Any]) -> pa.Array | None:
    """Return raw JSON values as strings: strings without quotes, other values verbatim.

    None if a string has an escape sequence.
    """
    kinds = set(map(type, raws))
    if not kinds <= {msgspec.Raw, type(None)}:
        return None
    column = _binary_column([_NULL if raw is None else raw for raw in raws] if type(None) in kinds else raws)
    is_text = pc.equal(pc.binary_slice(column, 0, 1), b'"')
    escaped = pc.and_(is_text, pc.match_substring(column, "\\"))
    if pc.any(escaped).as_py():
        return None
    texts = pc.if_else(is_text, pc.binary_slice(column, 1, -1), column)
    try:
        return pc.if_else(pc.equal(column, b"null"), pa.scalar(None, pa.binary()), texts).cast(pa.string())
    except pa.ArrowInvalid:
        return None


def _binary_column(raws: Sequence[Any]) -> pa.BinaryArray:
    """Return the values as a binary column, without an object per value."""
    ends = np.zeros(len(raws) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, raws), np.int32, len(raws)), out=ends[1:])
    content = pa.py_buffer(b"".join(raws))
    return pa.Array.from_buffers(pa.binary(), len(raws), [None, pa.py_buffer(ends), content])
