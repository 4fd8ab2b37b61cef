"""Avro files as Arrow batches."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any

import pyarrow as pa

from lakeward.autoloader.readers.avro_types import AvroTypes, Column
from lakeward.autoloader.readers.columnar import Columnar, Opened

__all__ = ["avro_opener"]

ROWS = 20_000


def avro_opener(reader_schema: str | None) -> Opened:
    """Opens files, resolved to the option `avroSchema` if set. ValueError where that is no schema."""
    from fastavro import parse_schema

    wanted = None if reader_schema is None else parse_schema(json.loads(reader_schema))

    def open_avro(data: bytes) -> Columnar:
        from fastavro import reader

        source: Any = reader(BytesIO(data), wanted, return_record_name=True, return_record_name_override=True)
        schema = wanted or source.writer_schema
        if not isinstance(schema, dict) or schema.get("type") not in ("record", "error"):
            raise ValueError("the file's Avro schema is not a record")
        types = AvroTypes()
        columns = {field["name"]: types.of(field["type"]) for field in schema["fields"]}
        arrow = pa.schema([pa.field(name, column.type) for name, column in columns.items()])
        return Columnar(arrow, _batches(source, columns, arrow))

    return open_avro


def _batches(records: Any, columns: dict[str, Column], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from fastavro.read import SchemaResolutionError

    try:
        while rows := list(islice(records, ROWS)):
            arrays = [_array(rows, name, column) for name, column in columns.items()]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
    except (SchemaResolutionError, KeyError, IndexError, struct.error, zlib.error) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _array(rows: list[dict[str, Any]], name: str, column: Column) -> pa.Array:
    convert = column.convert
    if convert is None:
        return pa.array([row[name] for row in rows], column.type)
    return pa.array([None if (value := row[name]) is None else convert(value) for row in rows], column.type)
