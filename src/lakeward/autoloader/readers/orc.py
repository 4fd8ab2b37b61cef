"""ORC files as Arrow batches, stripe by stripe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from lakeward.autoloader.readers.columnar import Columnar

__all__ = ["open_orc"]


def open_orc(data: bytes) -> Columnar:
    """See Opened."""
    from pyarrow.orc import ORCFile

    source: Any = ORCFile(pa.BufferReader(data))
    schema = pa.schema([pa.field(field.name, _meant(field)) for field in source.schema])
    return Columnar(schema, _batches(source, schema))


def _meant(field: pa.Field) -> pa.DataType:
    """Spark writes timestamps without a zone as numbers, and says so beside them."""
    said = (field.metadata or {}).get(b"spark.sql.catalyst.type")
    return pa.timestamp("us") if said == b"timestamp_ntz" and field.type == pa.int64() else field.type


def _batches(source: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for number in range(source.nstripes):
        stripe = source.read_stripe(number)
        columns = [column.cast(field.type) for column, field in zip(stripe.columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
