"""ORC files as Arrow batches, stripe by stripe."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from lakeward.autoloader.readers.columnar import Columnar

__all__ = ["open_orc"]


def open_orc(data: bytes) -> Columnar:
    """See Opened."""
    from pyarrow.orc import ORCFile

    source: Any = ORCFile(pa.BufferReader(data))
    return Columnar(source.schema, (source.read_stripe(number) for number in range(source.nstripes)))
