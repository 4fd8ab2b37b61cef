"""Rows of a stored result in Arrow, from any position on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.workspace.warehouse.statement_results import chunk_file

if TYPE_CHECKING:
    import pyarrow as pa


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
