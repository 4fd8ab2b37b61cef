"""Maps file columns to table columns: by name, by position, by a column list (AL-8.5, AL-8.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.copy_into.request import CopyIntoRequest
from lakeward.errors import SqlError
from lakeward.nested_types import cast_by_name, ordered_as
from lakeward.quoting import quote_identifier
from lakeward.spark_internals import jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

_COMPUTED = ("delta.generationExpression", "delta.identity.start")


def require_columns(table: StructType, request: CopyIntoRequest, shown: str) -> None:
    """Raise SqlError if the column list names columns that cannot be written."""
    if request.columns is not None:
        _target_columns(table, request, shown)


def map_columns(rows: DataFrame, table: StructType, request: CopyIntoRequest, shown: str) -> DataFrame:
    """Return `rows` in the shape of the table.

    Args:
        rows: The rows of the files.
        table: The columns of the table.
        request: The statement.
        shown: Display name of the table.

    Raises:
        SqlError: The rows do not match the table.
    """
    if request.by_position or request.columns is not None:
        return _map_by_position(rows, _target_columns(table, request, shown), shown)
    known = {field.name.lower(): field for field in table.fields}
    extra = [name for name in rows.columns if name.lower() not in known]
    if not request.merge_schema and (extra or not table.fields):
        raise SqlError(
            "COPY_INTO_SCHEMA_MISMATCH_WITH_TARGET_TABLE",
            f"The files have columns that {shown} lacks: {', '.join(extra)}.",
            sql_state="42KDG",
            next_step="Set COPY_OPTIONS ('mergeSchema' = 'true') to add them, or select columns in a query.",
        )
    return _upcast(rows, known)


def _upcast(rows: DataFrame, known: dict[str, StructField]) -> DataFrame:
    """Cast columns to wider table types. Delta itself rejects casts that lose values."""
    from pyspark.sql import functions as F

    jvm: Any = jvm_view(rows.sparkSession)
    can = jvm.org.apache.spark.sql.catalyst.expressions.Cast.canUpCast
    shown = []
    for field in rows.schema.fields:
        target = known.get(field.name.lower())
        column = F.col(quote_identifier(field.name))
        if target is not None and target.dataType != field.dataType:
            parse = jvm.org.apache.spark.sql.types.DataType.fromJson
            # Schemas of JSON files have the fields of structs by name, not in the order of the table.
            ordered = ordered_as(field.dataType, target.dataType)
            if ordered is not None and can(parse(ordered.json()), parse(target.dataType.json())):
                column = cast_by_name(column, field.dataType, target.dataType).alias(field.name)
        shown.append(column)
    return rows.select(*shown)


def _target_columns(table: StructType, request: CopyIntoRequest, shown: str) -> list[StructField]:
    """Return the table columns to write, in the order of the file columns."""
    own = [f for f in table.fields if not any(key in f.metadata for key in _COMPUTED)]
    if request.columns is None:
        return own
    by_name = {field.name.lower(): field for field in own}
    fields = [by_name.get(name.lower()) for name in request.columns]
    twice = len({name.lower() for name in request.columns}) != len(request.columns)
    if twice or None in fields:
        wrong = [n for n, f in zip(request.columns, fields, strict=True) if f is None] or request.columns
        raise SqlError(
            "COPY_INTO_SYNTAX_ERROR",
            f"The column list of {shown} has duplicate, unknown, identity or generated columns: "
            f"{', '.join(wrong)}.",
            sql_state="42601",
            next_step=f"Columns that can be written: {', '.join(field.name for field in own)}.",
        )
    return [field for field in fields if field is not None]


def _map_by_position(rows: DataFrame, targets: list[StructField], shown: str) -> DataFrame:
    from pyspark.sql import functions as F

    if len(rows.columns) != len(targets):
        raise SqlError(
            "COPY_INTO_COLUMN_ARITY_MISMATCH",
            f"{len(targets)} columns of {shown} are written; the files have {len(rows.columns)}.",
            sql_state="21S01",
            next_step="List as many columns as the files have.",
        )
    return rows.select(
        *(
            cast_by_name(F.col(quote_identifier(own.name)), own.dataType, field.dataType).alias(field.name)
            for own, field in zip(rows.schema.fields, targets, strict=True)
        )
    )
