"""Results as Thrift writes them: schema, batches of Arrow, or columns of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.workspace.thrift.constants import DAY_TIME_TYPE, STRING_TYPE, TYPE_IDS, YEAR_MONTH_TYPE
from lakeward.workspace.thrift.messages import STRUCTS

if TYPE_CHECKING:
    import pyarrow as pa

_YEAR_MONTH = ("YEAR", "MONTH", "YEAR TO MONTH")
_COLUMNS = {
    "bool": "boolVal",
    "int8": "byteVal",
    "int16": "i16Val",
    "int32": "i32Val",
    "int64": "i64Val",
    "float": "doubleVal",
    "double": "doubleVal",
    "binary": "binaryVal",
    "large_binary": "binaryVal",
}
_STRUCT_OF = {
    "boolVal": "TBoolColumn",
    "byteVal": "TByteColumn",
    "i16Val": "TI16Column",
    "i32Val": "TI32Column",
    "i64Val": "TI64Column",
    "doubleVal": "TDoubleColumn",
    "stringVal": "TStringColumn",
    "binaryVal": "TBinaryColumn",
}
_ABSENT = {"boolVal": False, "stringVal": "", "binaryVal": b"", "doubleVal": 0.0}


def table_schema(columns: Sequence[Mapping[str, Any]]) -> Any:
    """Return the schema of a result, from the columns of its manifest."""
    described = [
        STRUCTS["TColumnDesc"](
            columnName=column["name"], typeDesc=_type(column), position=column["position"] + 1, comment=""
        )
        for column in columns
    ]
    return STRUCTS["TTableSchema"](columns=described)


def _type(column: Mapping[str, Any]) -> Any:
    name = column["type_name"]
    code = TYPE_IDS.get(name, STRING_TYPE)
    qualifiers = None
    if name == "INTERVAL":
        unit = column.get("type_interval_type")
        code = YEAR_MONTH_TYPE if unit in _YEAR_MONTH else DAY_TIME_TYPE if unit else STRING_TYPE
    if name == "DECIMAL":
        value = STRUCTS["TTypeQualifierValue"]
        qualifiers = STRUCTS["TTypeQualifiers"](
            qualifiers={
                "precision": value(i32Value=column["type_precision"]),
                "scale": value(i32Value=column["type_scale"]),
            }
        )
    entry = STRUCTS["TPrimitiveTypeEntry"](type=code, typeQualifiers=qualifiers)
    return STRUCTS["TTypeDesc"](types=[STRUCTS["TTypeEntry"](primitiveEntry=entry)])


def arrow_schema(schema: pa.Schema, columns: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the schema of the batches, with the SQL type of each column as the platform names it."""
    import pyarrow as pa

    fields = [
        field.with_metadata({"Spark:DataType:SqlName": column["type_text"]})
        for field, column in zip(schema, columns, strict=True)
    ]
    data: bytes = pa.schema(fields).serialize().to_pybytes()
    return data


def arrow_rows(batches: Sequence[pa.RecordBatch], start: int) -> Any:
    """Return rows as batches of Arrow, which follow the schema in one stream."""
    written = [
        STRUCTS["TSparkArrowBatch"](batch=batch.serialize().to_pybytes(), rowCount=batch.num_rows)
        for batch in batches
    ]
    return STRUCTS["TRowSet"](startRowOffset=start, rows=[], arrowBatches=written)


def column_rows(schema: pa.Schema, batches: Sequence[pa.RecordBatch], start: int) -> Any:
    """Return rows as columns of values, for a client that does not read Arrow."""
    import pyarrow as pa

    table = pa.Table.from_batches(batches, schema)
    columns = [_column(column) for column in table.columns]
    return STRUCTS["TRowSet"](startRowOffset=start, rows=[], columns=columns, columnCount=len(columns))


def _column(column: pa.ChunkedArray) -> Any:
    """Return a column: its values, and a bit for each that is NULL, the first one in the lowest bit."""
    field = _COLUMNS.get(str(column.type), "stringVal")
    absent = _ABSENT.get(field, 0)
    values = column.to_pylist()
    nulls = bytearray((len(values) + 7) // 8)
    for row, value in enumerate(values):
        if value is None:
            values[row] = absent
            nulls[row // 8] |= 1 << row % 8
    return STRUCTS["TColumn"](**{field: STRUCTS[_STRUCT_OF[field]](values=values, nulls=bytes(nulls))})
