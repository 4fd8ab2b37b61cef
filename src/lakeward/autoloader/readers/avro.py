"""Avro files as Arrow batches, typed by the rules of Spark's Avro reader."""

from __future__ import annotations

import json
import operator
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import time
from io import BytesIO
from itertools import islice
from typing import Any

import pyarrow as pa

from lakeward.autoloader.readers.file_contents import ColumnarFile, FileOpener
from lakeward.errors import CloudFilesError

Convert = Callable[[Any], Any]
_PRIMITIVE_TYPES = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL_TYPES = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}
# The Python types of decoded union members; they identify the member.
_PYTHON_TYPES: dict[str, type] = {"boolean": bool, "int": int, "long": int, "float": float, "double": float}
_PYTHON_TYPES |= {"bytes": bytes, "fixed": bytes, "string": str, "enum": str, "array": list, "map": dict}


@dataclass(frozen=True)
class AvroColumn:
    """An Arrow type and the conversion of decoded values, None if they need none."""

    type: pa.DataType
    convert: Convert | None = None


@dataclass
class AvroTypes:
    """The types of one schema; named types can be referenced by name."""

    _named: dict[str, AvroColumn | None] = field(default_factory=dict)

    def of(self, schema: Any) -> AvroColumn:
        """Return the column of a schema parsed by fastavro; raise ValueError for recursive schemas."""
        if isinstance(schema, list):
            return self._union(schema)
        if isinstance(schema, str):
            if schema in _PRIMITIVE_TYPES:
                return AvroColumn(_PRIMITIVE_TYPES[schema])
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

    def _single(self, schema: Mapping[str, Any], kind: Any) -> AvroColumn:
        logical = schema.get("logicalType")
        if logical == "decimal":
            return AvroColumn(pa.decimal128(schema["precision"], schema.get("scale", 0)))
        if logical in _LOGICAL_TYPES:
            return AvroColumn(_LOGICAL_TYPES[logical])
        if logical == "uuid":
            return AvroColumn(pa.string(), str)
        if logical in ("time-millis", "time-micros"):
            micros = logical == "time-micros"
            return AvroColumn(pa.int64() if micros else pa.int32(), _micros if micros else _millis)
        if kind == "enum":
            return AvroColumn(pa.string())
        if kind == "fixed":
            return AvroColumn(pa.binary())
        if kind == "array":
            items = self.of(schema["items"])
            return AvroColumn(pa.list_(items.type), items.convert and _convert_items(items.convert))
        if kind == "map":
            values = self.of(schema["values"])
            return AvroColumn(pa.map_(pa.string(), values.type), _convert_map(values.convert))
        if kind in ("record", "error"):
            return self._record(schema)
        return self.of(kind)

    def _record(self, schema: Mapping[str, Any]) -> AvroColumn:
        columns = {member["name"]: self.of(member["type"]) for member in schema["fields"]}
        arrow_type = pa.struct([pa.field(name, column.type) for name, column in columns.items()])
        converts = {name: column.convert for name, column in columns.items() if column.convert}
        return AvroColumn(arrow_type, _convert_record(converts) if converts else None)

    def _union(self, schemas: list[Any]) -> AvroColumn:
        """Return the type of a union.

        One type or null: that type. Two widths of a number: the wider one. Otherwise a record of `member<i>`.
        """
        members = [schema for schema in schemas if schema != "null"]
        if not members:
            return AvroColumn(pa.null())
        if len(members) == 1:
            return self.of(members[0])
        for pair, wider in (({"int", "long"}, pa.int64()), ({"float", "double"}, pa.float64())):
            if all(isinstance(member, str) for member in members) and set(members) == pair:
                return AvroColumn(wider)
        columns = [self.of(member) for member in members]
        arrow_type = pa.struct([pa.field(f"member{i}", column.type) for i, column in enumerate(columns)])
        return AvroColumn(arrow_type, _convert_union(members, columns))


def _nullable(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _convert_items(convert: Convert) -> Convert:
    item = _nullable(convert)
    return lambda values: [item(value) for value in values]


def _convert_map(convert: Convert | None) -> Convert:
    item = _nullable(convert) if convert else None
    return lambda values: list(values.items()) if item is None else [(k, item(v)) for k, v in values.items()]


def _convert_record(converts: Mapping[str, Convert]) -> Convert:
    items = {name: _nullable(convert) for name, convert in converts.items()}

    def convert(record: Any) -> Any:
        for name, item in items.items():
            record[name] = item(record[name])
        return record

    return convert


def _convert_union(members: list[Any], columns: list[AvroColumn]) -> Convert:
    names = [
        member["name"] if isinstance(member, dict) and "fields" in member else None for member in members
    ]
    kinds = [
        _PYTHON_TYPES.get(member if isinstance(member, str) else member["type"], object) for member in members
    ]

    def convert(value: object) -> Any:
        # Records in unions are tuples of name and record.
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


AVRO_ROWS = 20_000


def avro_opener(reader_schema: str | None) -> FileOpener:
    """Return an opener that resolves files to `avroSchema` if set; raise CloudFilesError if it is invalid."""
    from fastavro import parse_schema

    given = None if reader_schema is None else _parse_reader_schema(reader_schema)

    def open_avro(data: bytes) -> ColumnarFile:
        from fastavro import reader

        named: Any = None
        if given is not None:
            named = parse_schema(_with_aliases(given, reader(BytesIO(data)).writer_schema))
        source: Any = reader(BytesIO(data), named, return_record_name=True, return_record_name_override=True)
        schema = named or source.writer_schema
        if not isinstance(schema, dict) or schema.get("type") not in ("record", "error"):
            raise ValueError("the file's Avro schema is not a record")
        types = AvroTypes()
        columns = {field["name"]: types.of(field["type"]) for field in schema["fields"]}
        arrow = pa.schema([pa.field(name, column.type) for name, column in columns.items()])
        return ColumnarFile(arrow, _batches(source, columns, arrow))

    return open_avro


def _parse_reader_schema(text: str) -> Any:
    from fastavro import parse_schema
    from fastavro.schema import SchemaParseException, UnknownType

    try:
        given = json.loads(text)
        parse_schema(given)
    except (ValueError, KeyError, TypeError, SchemaParseException, UnknownType) as error:
        raise CloudFilesError(
            "CF_INVALID_OPTION_VALUE",
            f"Option avroSchema is no Avro schema in JSON: {error}.",
            next_step="Correct the schema or remove the option.",
        ) from None
    return given


def _with_aliases(wanted: Any, written: Any) -> Any:
    """Return the schema `wanted` with the names of the file's records as aliases of its own.

    As in Avro's Java library, which Spark uses, fields decide whether records match, not the records' names.
    """
    if isinstance(wanted, list):
        branches = written if isinstance(written, list) else [written]
        records = [each for each in branches if _is_record(each)]
        is_only = len(records) == 1 and sum(map(_is_record, wanted)) == 1
        return [_with_aliases(each, records[0]) if is_only and _is_record(each) else each for each in wanted]
    if isinstance(written, list):
        records = [each for each in written if _is_record(each)]
        return _with_aliases(wanted, records[0]) if len(records) == 1 else wanted
    if not isinstance(wanted, dict) or not isinstance(written, dict):
        return wanted
    if _is_record(wanted) and _is_record(written):
        types = {field["name"]: field["type"] for field in written["fields"]}
        fields = [
            {**field, "type": _with_aliases(field["type"], types.get(field["name"]))}
            for field in wanted["fields"]
        ]
        return {**wanted, "fields": fields, "aliases": [*wanted.get("aliases", ()), written["name"]]}
    for inner in ("items", "values"):
        if inner in wanted and inner in written:
            return {**wanted, inner: _with_aliases(wanted[inner], written[inner])}
    return wanted


def _is_record(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "record"


def _batches(records: Any, columns: dict[str, AvroColumn], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from fastavro.read import SchemaResolutionError

    try:
        while rows := list(islice(records, AVRO_ROWS)):
            arrays = [_array(rows, name, column) for name, column in columns.items()]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
    except (SchemaResolutionError, KeyError, IndexError, struct.error, zlib.error) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _array(rows: list[dict[str, Any]], name: str, column: AvroColumn) -> pa.Array:
    convert = column.convert
    if convert is None:
        return pa.array([row[name] for row in rows], column.type)
    return pa.array([None if (value := row[name]) is None else convert(value) for row in rows], column.type)
