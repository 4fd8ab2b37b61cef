"""Rows in the shape of the table: by name, by position, by a column list (auto-loader.md §8 rules 5, 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.copy_into.request import Request
from lakeward.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

__all__ = ["fitted", "require_columns"]

_COMPUTED = ("delta.generationExpression", "delta.identity.start")


def require_columns(table: StructType, request: Request, shown: str) -> None:
    """Raises SqlError for a column list that names what cannot be written."""
    if request.columns is not None:
        _targets(table, request, shown)


def fitted(rows: DataFrame, table: StructType, request: Request, shown: str) -> DataFrame:
    """`rows` as they are to be appended. Raises SqlError where they do not fit the table."""
    if request.by_position or request.columns is not None:
        return _by_position(rows, _targets(table, request, shown), shown)
    known = {field.name.lower(): field for field in table.fields}
    extra = [name for name in rows.columns if name.lower() not in known]
    if not request.merge_schema and (extra or not table.fields):
        raise SqlError(
            "COPY_INTO_SCHEMA_MISMATCH_WITH_TARGET_TABLE",
            f"The files have columns that {shown} has not: {', '.join(extra)}.",
            sql_state="42KDG",
            next_step="Set COPY_OPTIONS ('mergeSchema' = 'true') to add them, or select the wanted ones.",
        )
    return _widened(rows, known)


def _widened(rows: DataFrame, known: dict[str, StructField]) -> DataFrame:
    """Values of a narrower type in the table's; the rest is Delta's, which refuses what loses values."""
    from pyspark.sql import functions as F

    jvm: Any = rows.sparkSession._jvm
    can = jvm.org.apache.spark.sql.catalyst.expressions.Cast.canUpCast
    shown = []
    for field in rows.schema.fields:
        target = known.get(field.name.lower())
        column = F.col(f"`{field.name.replace('`', '``')}`")
        if target is not None and target.dataType != field.dataType:
            parse = jvm.org.apache.spark.sql.types.DataType.fromJson
            if can(parse(field.dataType.json()), parse(target.dataType.json())):
                column = column.cast(target.dataType).alias(field.name)
        shown.append(column)
    return rows.select(*shown)


def _targets(table: StructType, request: Request, shown: str) -> list[StructField]:
    """The table's columns that are written, in the order of the file's."""
    own = [f for f in table.fields if not any(key in f.metadata for key in _COMPUTED)]
    if request.columns is None:
        return own
    by_name = {field.name.lower(): field for field in own}
    found = [by_name.get(name.lower()) for name in request.columns]
    twice = len({name.lower() for name in request.columns}) != len(request.columns)
    if twice or None in found:
        wrong = [n for n, f in zip(request.columns, found, strict=True) if f is None] or request.columns
        raise SqlError(
            "COPY_INTO_SYNTAX_ERROR",
            f"The column list of {shown} names {', '.join(wrong)}: twice, unknown, identity or generated.",
            sql_state="42601",
            next_step=f"Columns that can be listed: {', '.join(field.name for field in own)}.",
        )
    return [field for field in found if field is not None]


def _by_position(rows: DataFrame, targets: list[StructField], shown: str) -> DataFrame:
    from pyspark.sql import functions as F

    if len(rows.columns) != len(targets):
        raise SqlError(
            "COPY_INTO_COLUMN_ARITY_MISMATCH",
            f"{shown} is written in {len(targets)} columns; the files have {len(rows.columns)}.",
            sql_state="21S01",
            next_step="List as many columns as the files have.",
        )
    return rows.select(
        *(
            F.col(f"`{name.replace('`', '``')}`").cast(field.dataType).alias(field.name)
            for name, field in zip(rows.columns, targets, strict=True)
        )
    )
