"""Behavior of Databricks Connect that differs from Spark Classic, for suites that use `DatabricksSession`.

`createDataFrame` of a list takes values without a row, converts integers in columns of floats, and
makes one partition, so that a table that is written from few rows has one file and keeps their order.
`Observation.get` returns an empty dict before the first action instead of waiting for it.

Source: pyspark/sql/connect/session.py, conversion.py and observation.py.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from lakeward.patching import PatchSpec, Wrapped
from lakeward.spark_internals import is_pending, parse_schema, to_arrow

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def _create_data_frame(before: Wrapped) -> Any:
    @wraps(before)
    def create(
        self: Any, data: Any, schema: Any = None, samplingRatio: Any = None, verifySchema: bool = True
    ) -> Any:
        if not isinstance(data, (list, tuple)) or not data:
            return before(self, data, schema, samplingRatio, verifySchema)
        rows = list(data)
        if isinstance(schema, str):
            schema = parse_schema(schema)
        rows = _convert_rows(rows, schema)
        table = _arrow_table(rows, schema)
        if table is not None:
            return before(self, table, schema).coalesce(1)
        return before(self, rows, schema, samplingRatio, verifySchema).coalesce(1)

    return create


def _convert_rows(rows: list[Any], schema: DataType | Any) -> list[Any]:
    from pyspark.sql.types import DoubleType, FloatType, StructType

    if not isinstance(schema, StructType):
        return rows
    if not isinstance(rows[0], (tuple, list, dict)) and not hasattr(rows[0], "__dict__"):
        rows = [(row,) for row in rows]
    floats = [at for at, field in enumerate(schema) if isinstance(field.dataType, (FloatType, DoubleType))]
    if not floats:
        return rows
    return [_convert_floats(row, floats, schema.names) for row in rows]


def _arrow_table(rows: list[Any], schema: Any) -> Any:
    """Return the rows as Connect sends them, from which Spark makes a relation of known size, or None.

    Joins with a relation of unknown size are not broadcast, so their rows come in another order.
    """
    from pyspark.sql.types import StructType

    if not isinstance(schema, StructType) or not schema.fields:
        return None
    try:
        return to_arrow(rows, schema)
    except Exception:  # noqa: BLE001  # Spark Classic reports what is wrong with the rows.
        return None


def _convert_floats(row: Any, floats: list[int], names: list[str]) -> Any:
    if isinstance(row, dict):
        return {**row, **{names[at]: _float(row[names[at]]) for at in floats if names[at] in row}}
    # A Row with names may have its fields in another order than the schema.
    if not isinstance(row, (tuple, list)) or hasattr(row, "__fields__"):
        return row
    changed = list(row)
    for at in floats:
        if at < len(changed):
            changed[at] = _float(changed[at])
    return tuple(changed)


def _float(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _get(before: property) -> Any:
    def get(self: Any) -> Any:
        return {} if is_pending(self) else before.__get__(self, type(self))

    return property(get, doc=before.__doc__)


PATCHES = (
    PatchSpec(
        "pyspark.sql.session:SparkSession",
        "createDataFrame",
        "connect",
        "DatabricksSession: lists become one partition, with the conversions of Databricks Connect",
        _create_data_frame,
    ),
    PatchSpec(
        "pyspark.sql.observation:Observation",
        "get",
        "connect",
        "DatabricksSession: metrics are empty before the first action",
        _get,
    ),
)
