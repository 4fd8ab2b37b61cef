"""Parquet files as Arrow batches."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from lakeward.autoloader.readers.columnar import ROWS, Columnar

__all__ = ["open_parquet"]


def open_parquet(data: bytes) -> Columnar:
    """See Opened."""
    source = pq.ParquetFile(pa.BufferReader(data))
    return Columnar(source.schema_arrow, source.iter_batches(batch_size=ROWS))
