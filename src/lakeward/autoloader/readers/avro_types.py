"""An Avro schema as Arrow types, by the rules of Spark's own Avro reader, and the way of values there."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import time
from typing import Any

import pyarrow as pa

__all__ = ["AvroTypes", "Column"]

Convert = Callable[[Any], Any]
_PRIMITIVES = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}
# What fastavro decodes the members of a union to, so that a value tells which member it was.
_PYTHON: dict[str, type] = {"boolean": bool, "int": int, "long": int, "float": float, "double": float}
_PYTHON |= {"bytes": bytes, "fixed": bytes, "string": str, "enum": str, "array": list, "map": dict}


@dataclass(frozen=True)
class Column:
    """An Arrow type, and what makes a decoded value one of it (None: it is one already)."""

    type: pa.DataType
    convert: Convert | None = None


@dataclass
class AvroTypes:
    """Reads one schema; named types may be used again by their name."""

    _named: dict[str, Column | None] = field(default_factory=dict)

    def of(self, schema: Any) -> Column:
        """The column of a schema as fastavro parsed it. ValueError for one that contains itself."""
        if isinstance(schema, list):
            return self._union(schema)
        if isinstance(schema, str):
            if schema in _PRIMITIVES:
                return Column(_PRIMITIVES[schema])
            known = self._named.get(schema)
            if known is None:
                raise ValueError(f"the Avro type {schema} contains itself")
            return known
        kind = schema["type"]
        if kind in ("record", "error", "enum", "fixed"):
            self._named[schema["name"]] = None
            column = self._single(schema, kind)
            self._named[schema["name"]] = column
            return column
        return self._single(schema, kind)

    def _single(self, schema: Mapping[str, Any], kind: Any) -> Column:
        logical = schema.get("logicalType")
        if logical == "decimal":
            return Column(pa.decimal128(schema["precision"], schema.get("scale", 0)))
        if logical in _LOGICAL:
            return Column(_LOGICAL[logical])
        if logical == "uuid":
            return Column(pa.string(), str)
        if logical in ("time-millis", "time-micros"):
            micros = logical == "time-micros"
            return Column(pa.int64() if micros else pa.int32(), _micros if micros else _millis)
        if kind == "enum":
            return Column(pa.string())
        if kind == "fixed":
            return Column(pa.binary())
        if kind == "array":
            items = self.of(schema["items"])
            return Column(pa.list_(items.type), items.convert and _each(items.convert))
        if kind == "map":
            values = self.of(schema["values"])
            return Column(pa.map_(pa.string(), values.type), _pairs(values.convert))
        if kind in ("record", "error"):
            return self._record(schema)
        return self.of(kind)

    def _record(self, schema: Mapping[str, Any]) -> Column:
        columns = {member["name"]: self.of(member["type"]) for member in schema["fields"]}
        arrow_type = pa.struct([pa.field(name, column.type) for name, column in columns.items()])
        converts = {name: column.convert for name, column in columns.items() if column.convert}
        return Column(arrow_type, _members(converts) if converts else None)

    def _union(self, schemas: list[Any]) -> Column:
        """One type or null: that type. Two widths of a number: the wider. Else a record of `member<i>`."""
        members = [schema for schema in schemas if schema != "null"]
        if not members:
            return Column(pa.null())
        if len(members) == 1:
            return self.of(members[0])
        for pair, wider in (({"int", "long"}, pa.int64()), ({"float", "double"}, pa.float64())):
            if all(isinstance(member, str) for member in members) and set(members) == pair:
                return Column(wider)
        columns = [self.of(member) for member in members]
        arrow_type = pa.struct([pa.field(f"member{i}", column.type) for i, column in enumerate(columns)])
        return Column(arrow_type, _chosen(members, columns))


def _nullable(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _each(convert: Convert) -> Convert:
    item = _nullable(convert)
    return lambda values: [item(value) for value in values]


def _pairs(convert: Convert | None) -> Convert:
    item = _nullable(convert) if convert else None
    return lambda found: list(found.items()) if item is None else [(k, item(v)) for k, v in found.items()]


def _members(converts: Mapping[str, Convert]) -> Convert:
    items = {name: _nullable(convert) for name, convert in converts.items()}

    def convert(record: Any) -> Any:
        for name, item in items.items():
            record[name] = item(record[name])
        return record

    return convert


def _chosen(members: list[Any], columns: list[Column]) -> Convert:
    names = [
        member["name"] if isinstance(member, dict) and "fields" in member else None for member in members
    ]
    kinds = [_PYTHON.get(member if isinstance(member, str) else member["type"], object) for member in members]

    def convert(value: Any) -> Any:
        # Records in unions come with their name.
        if isinstance(value, tuple):
            index, value = names.index(value[0]), value[1]
        else:
            exact = [i for i, kind in enumerate(kinds) if type(value) is kind]
            index = exact[0] if exact else next(i for i, kind in enumerate(kinds) if kind is object)
        item = columns[index].convert
        return {f"member{index}": item(value) if item else value}

    return convert


_parts: Callable[[time], tuple[int, int, int, int]] = operator.attrgetter(
    "hour", "minute", "second", "microsecond"
)


def _micros(value: time) -> int:
    hour, minute, second, micro = _parts(value)
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + micro


def _millis(value: time) -> int:
    return _micros(value) // 1000
