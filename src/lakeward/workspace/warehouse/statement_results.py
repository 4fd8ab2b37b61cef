"""Results of statements as files: `chunk-0.json`, `chunk-1.json` … in a folder of their own, mode 600.

Secrets are redacted before they are written.

Formats: https://docs.databricks.com/api/workspace/statementexecution/executestatement
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from lakeward.dbutils import known_secrets, redactor
from lakeward.errors import SqlError
from lakeward.workspace.warehouse.execution import StatementOrder

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from lakeward.dbutils import Redactor
    from lakeward.workspace.state.store import Document

INLINE_BYTES = 25 * 2**20
"""The platform's limit of a result with the disposition INLINE."""

EXTENSIONS = {"JSON_ARRAY": "json", "ARROW_STREAM": "arrow", "CSV": "csv"}
_EXTERNAL_BYTES = 100 * 2**30
_CHUNK_BYTES = {"INLINE": 4 * 2**20, "EXTERNAL_LINKS": 16 * 2**20}


def chunk_file(folder: Path, layout: str, index: int) -> Path:
    """Return the file of a chunk of a result in the format `layout`."""
    return folder / f"chunk-{index}.{EXTENSIONS[layout]}"


def write_result(frame: DataFrame, order: StatementOrder, folder: Path) -> Document:
    """Run the query, write its result to `folder` and return the manifest.

    Args:
        frame: The statement's result.
        order: The statement.
        folder: Where the chunks are written; removed if anything fails.

    Raises:
        SqlError: The result does not fit into the disposition INLINE.
    """
    from lakeward.workspace.warehouse.result_batches import collect_batches
    from lakeward.workspace.warehouse.result_columns import as_arrow, as_text, describe

    layout, disposition = order.format, order.disposition
    is_arrow = layout == "ARROW_STREAM"
    native = is_arrow and order.native_intervals
    columns = redactor().value(describe(frame.schema, native))
    requested = min(order.byte_limit or _EXTERNAL_BYTES, _EXTERNAL_BYTES)
    limits = Limits(order.row_limit, requested, refuse=disposition == "INLINE" and requested > INLINE_BYTES)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        plain = as_arrow(frame, order.text_types, native) if is_arrow else as_text(frame)
        if limits.rows is not None:
            plain = plain.limit(limits.rows + 1)
        batches = collect_batches(plain, folder / "spool", most_bytes=limits.size)
        named = (batch.rename_columns([column["name"] for column in columns]) for batch in batches)
        kept = (redact_batch(batch) for batch in limits.apply(named))
        chunks = [
            write_chunk(folder, layout, index, part)
            for index, part in enumerate(parts(kept, _CHUNK_BYTES[disposition]))
        ]
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder / "spool", ignore_errors=True)
    offset = 0
    for chunk in chunks:
        chunk["row_offset"] = offset
        offset += chunk["row_count"]
    return {
        "format": layout,
        "schema": {"column_count": len(columns), "columns": columns},
        "total_chunk_count": len(chunks),
        "chunks": chunks,
        "total_row_count": offset,
        "total_byte_count": sum(chunk["byte_count"] for chunk in chunks),
        "truncated": limits.reached,
    }


class Limits:
    """`row_limit` and `byte_limit` of a request; `reached`: whether rows were left out.

    With `refuse`, a result of more than 25 MiB is an error.
    """

    def __init__(self, rows: int | None, size: int, *, refuse: bool = False) -> None:
        self.rows, self.refuse = rows, refuse
        self.size = INLINE_BYTES if refuse else size
        self.reached = False

    def apply(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches up to the limits; at least one, which carries the schema."""
        rows, size = self.rows, self.size
        for number, batch in enumerate(batches):
            fitting: int = batch.num_rows
            if rows is not None:
                fitting = min(fitting, rows)
            if batch.nbytes > size:
                if self.refuse:
                    raise too_large()
                fitting = min(fitting, size * batch.num_rows // batch.nbytes)
            self.reached = fitting < batch.num_rows
            if fitting or number == 0:
                yield batch.slice(0, fitting)
            if self.reached:
                return
            rows = None if rows is None else rows - fitting
            size -= batch.nbytes


def too_large() -> SqlError:
    """Return the platform's error for a result that does not fit into the disposition INLINE."""
    return SqlError(
        "INLINE_BYTE_LIMIT_EXCEEDED",
        "Inline byte limit exceeded. Statements executed with disposition=INLINE can have a result size of "
        f"at most {INLINE_BYTES} bytes. Please execute the statement with disposition=EXTERNAL_LINKS if you "
        "want to download the full result.",
    )


def parts(batches: Iterable[pa.RecordBatch], most_bytes: int) -> Iterator[list[pa.RecordBatch]]:
    """Batches that make up a chunk each."""
    part: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if part and size + batch.nbytes > most_bytes:
            yield part
            part, size = [], 0
        part.append(batch)
        size += batch.nbytes
    yield part


def write_chunk(folder: Path, layout: str, index: int, batches: list[pa.RecordBatch]) -> Document:
    """Write a chunk and describe it."""
    rows = sum(batch.num_rows for batch in batches)
    if layout == "ARROW_STREAM":
        data = _arrow(batches)
    else:
        values = [
            row for batch in batches for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)
        ]
        header = batches[0].schema.names if index == 0 else None
        data = orjson.dumps(values) if layout == "JSON_ARRAY" else _csv(values, header)
    descriptor = os.open(chunk_file(folder, layout, index), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return {"chunk_index": index, "row_offset": 0, "row_count": rows, "byte_count": len(data)}


def _arrow(batches: list[pa.RecordBatch]) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _csv(rows: list[tuple[str | None, ...]], header: list[str] | None) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    if header is not None:
        writer.writerow(header)
    writer.writerows([["null" if value is None else value for value in row] for row in rows])
    return text.getvalue().encode()


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
    """Return all text of a column, joined: one search finds out that most columns have no secret."""
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


def result_schema(folder: Path) -> pa.Schema:
    """Return the schema of a result. Raises FileNotFoundError if the result has expired."""
    import pyarrow as pa

    with pa.memory_map(str(chunk_file(folder, "ARROW_STREAM", 0))) as source:
        return pa.ipc.open_stream(source).schema


def read_batches(
    folder: Path, manifest: Mapping[str, Any], start: int, *, most_rows: int, most_bytes: int
) -> list[pa.RecordBatch]:
    """Return the rows from `start` on, up to both limits, but one row at least if there is one.

    Raises:
        FileNotFoundError: The result has expired.
    """
    import pyarrow as pa

    found: list[pa.RecordBatch] = []
    for chunk in manifest["chunks"]:
        offset = chunk["row_offset"]
        if offset + chunk["row_count"] <= start:
            continue
        source = pa.memory_map(str(chunk_file(folder, "ARROW_STREAM", chunk["chunk_index"])))
        for batch in pa.ipc.open_stream(source):
            begin = max(0, start - offset)
            offset += batch.num_rows
            if begin >= batch.num_rows:
                continue
            rows = min(batch.num_rows - begin, most_rows)
            if batch.nbytes > most_bytes:
                rows = min(rows, most_bytes * batch.num_rows // batch.nbytes)
            if rows <= 0 and found:
                return found
            part = batch.slice(begin, max(1, rows))
            found.append(part)
            start += part.num_rows
            most_rows -= part.num_rows
            most_bytes -= batch.nbytes * part.num_rows // batch.num_rows
            if most_rows <= 0 or most_bytes <= 0:
                return found
    return found
