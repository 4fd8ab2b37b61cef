"""The schema of Parquet files: the types in the files, the wider one where they differ (§2.2)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from lakeward.autoloader.schema.merge import inferred, same_name

__all__ = ["ParquetInference", "plain_type"]


def plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """Without what Spark does not tell apart: dictionaries, time units, large offsets, unsigned numbers."""
    if pa.types.is_dictionary(arrow_type):
        return plain_type(arrow_type.value_type)
    if pa.types.is_timestamp(arrow_type):
        return pa.timestamp("us", tz="UTC" if arrow_type.tz else None)
    if pa.types.is_large_string(arrow_type):
        return pa.string()
    if pa.types.is_large_binary(arrow_type) or pa.types.is_fixed_size_binary(arrow_type):
        return pa.binary()
    if pa.types.is_unsigned_integer(arrow_type):
        wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
        return wider[arrow_type.bit_width]
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        return pa.list_(plain_type(arrow_type.value_type))
    if pa.types.is_map(arrow_type):
        return pa.map_(plain_type(arrow_type.key_type), plain_type(arrow_type.item_type))
    if pa.types.is_struct(arrow_type):
        return pa.struct([pa.field(field.name, plain_type(field.type)) for field in arrow_type])
    return arrow_type


class ParquetInference:
    """Takes one file after the other."""

    def __init__(self) -> None:
        self._columns: dict[str, DataType] = {}
        self.records = 0

    def add(self, data: bytes) -> None:
        """A file's bytes; those that are no Parquet say nothing."""
        try:
            source = pq.ParquetFile(pa.BufferReader(data))
        except (pa.ArrowInvalid, OSError):
            return
        self.records += source.metadata.num_rows
        for field in source.schema_arrow:
            name = (
                field.name
                if field.name in self._columns
                else same_name(field.name, self._columns) or field.name
            )
            found = from_arrow_type(plain_type(field.type))
            known = self._columns.get(name)
            self._columns[name] = found if known is None else inferred(known, found)

    def schema(self) -> StructType:
        """Columns in file order."""
        return StructType([StructField(name, dtype) for name, dtype in self._columns.items()])
