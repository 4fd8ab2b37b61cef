"""The rows of a query as Arrow batches, in order, within bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.spark_internals import java_frame, jvm_view, optimized_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def collect_batches(frame: DataFrame, spool: Path, *, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """Run a query and yield its batches; there is always at least one.

    Spark's tasks write their batches to files in the folder `spool`, which are read one after the other: a
    result may be larger than the memory. A task stops once it has written more than `most_bytes`, so a
    result that is larger may be cut, but still exceeds `most_bytes`.
    """
    if _is_local(frame):
        yield _local(frame)
        return
    schema = _schema(frame)
    found = False
    for file in _write(frame, spool, most_bytes):
        for batch in _read(file, schema):
            if batch.num_rows:
                found = True
                yield batch
        file.unlink()
    if not found:
        yield _empty(schema)


def _write(frame: DataFrame, spool: Path, most_bytes: int) -> list[Path]:
    """Run the query; return the files of its partitions in order."""
    spool.mkdir(mode=0o700)
    jvm: Any = jvm_view(frame.sparkSession)
    partitions = jvm.lakeward.ArrowFiles.write(java_frame(frame), str(spool), most_bytes)
    return [spool / str(number) for number in range(partitions)]


def _read(file: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with file.open("rb") as stream:
        while length := stream.read(4):
            yield pa.ipc.read_record_batch(pa.py_buffer(stream.read(int.from_bytes(length, "big"))), schema)


def _is_local(frame: DataFrame) -> bool:
    """Return whether the driver has the rows already, as texts: collecting them needs no Spark job."""
    from pyspark.sql.types import StringType

    texts = all(isinstance(field.dataType, StringType) for field in frame.schema.fields)
    return texts and optimized_plan(frame).nodeName() == "LocalRelation"


def _local(frame: DataFrame) -> pa.RecordBatch:
    rows = frame.collect()
    if not rows:
        return _empty(_schema(frame))
    names = [field.name for field in frame.schema.fields]
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _schema(frame: DataFrame) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    return to_arrow_schema(frame.schema, timezone=zone)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
