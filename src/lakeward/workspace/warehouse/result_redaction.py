"""Redaction of secrets in results, before they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.dbutils import known_secrets, redactor

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.dbutils import Redactor


def redact_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Replace the secrets that this process has read, escaped or not, in all text, nested text included."""
    if not known_secrets():
        return batch
    import pyarrow as pa

    redact = redactor()
    columns = [_redacted(column, redact) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _redacted(column: pa.Array, redact: Redactor) -> pa.Array:
    import pyarrow as pa

    if not any(redact.occurs(text) for text in _texts(column)):
        return column
    return pa.array([redact.value(value) for value in column.to_pylist()], type=column.type)


def _texts(column: pa.Array) -> list[str]:
    """All text of a column, joined: one search finds out that most columns have no secret."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        data = column.buffers()[2]
        return [] if data is None else [data.to_pybytes().decode(errors="replace")]
    if pa.types.is_struct(kind):
        return [text for field in column.flatten() for text in _texts(field)]
    if pa.types.is_map(kind):
        return [*_texts(column.keys), *_texts(column.items)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _texts(column.values)
    return []
