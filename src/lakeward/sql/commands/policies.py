"""Row filters and column masks, kept beside the table; `PolicyRules.java` applies them where it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import patches
from lakeward.sql.commands.place import place, read_note, write_note
from lakeward.sql.commands.tables import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["drop_mask", "drop_row_filter", "set_mask", "set_row_filter"]

_FILTER, _MASKS = "row_filter", "masks"
_ROWS, _COLUMNS = "ROW_LEVEL_SECURITY", "COLUMN_MASKS"
_CHECK = "delta.constraints."

Argument = Mapping[str, str]


def set_row_filter(
    spark: SparkSession, *, table: list[str], function: list[str], arguments: Sequence[Argument]
) -> dict[str, Any]:
    """Readers see the rows for which the function is true. Raises SqlError or what analysis raises."""
    schema = _governable(spark, table, _ROWS)
    _require_distinct(_named(arguments), f"{_ROWS}_DUPLICATE_COLUMN_NAME", table)
    policy = _policy(spark, schema, function, arguments)
    spark.createDataFrame([], schema).where(policy["expression"])
    _keep(spark, table, **{_FILTER: policy})
    return {}


def drop_row_filter(spark: SparkSession, *, table: list[str]) -> dict[str, Any]:
    """Readers see all rows again; nothing to do where there is no filter."""
    _bare(spark, table)
    _keep(spark, table, **{_FILTER: None})
    return {}


def set_mask(
    spark: SparkSession, *, table: list[str], column: str, function: list[str], arguments: Sequence[Argument]
) -> dict[str, Any]:
    """Readers see what the function makes of the column. Raises SqlError or what analysis raises."""
    schema = _governable(spark, table, _COLUMNS)
    name = _column(spark, schema, column)
    others = _named(arguments)
    if name.lower() in (other.lower() for other in others):
        raise _refused(f"{_COLUMNS}_USING_COLUMN_NAME_SAME_AS_TARGET_COLUMN", table, f"names {name} itself")
    _require_distinct(others, f"{_COLUMNS}_DUPLICATE_USING_COLUMN_NAME", table)
    policy = _policy(spark, schema, function, [{"column": name}, *arguments])
    policy["expression"] = f"CAST({policy['expression']} AS {schema[name].dataType.simpleString()})"
    spark.createDataFrame([], schema).selectExpr(policy["expression"])
    _keep(spark, table, **{_MASKS: {**_masks(spark, table), name: policy}})
    return {}


def drop_mask(spark: SparkSession, *, table: list[str], column: str) -> dict[str, Any]:
    """Readers see the column again; nothing to do where there is no mask."""
    name = _column(spark, _bare(spark, table).schema, column)
    _keep(spark, table, **{_MASKS: {k: v for k, v in _masks(spark, table).items() if k != name}})
    return {}


def _bare(spark: SparkSession, table: list[str]) -> DataFrame:
    """The table that the catalog has under that name, also where a pipeline answers for its datasets."""
    frame: DataFrame = patches.original(type(spark), "table")(spark, quoted(table))
    return frame


def _governable(spark: SparkSession, table: list[str], kind: str) -> StructType:
    """The columns of a table that may have policies. Raises SqlError for one that may not."""
    frame = _bare(spark, table)
    detail = _detail(spark, table)
    if detail is None:
        raise _refused(f"{kind}_FEATURE_NOT_SUPPORTED.VIEWS", table, "is a view")
    if any(key.startswith(_CHECK) for key in detail):
        raise _refused(f"{kind}_FEATURE_NOT_SUPPORTED.CHECK_CONSTRAINT", table, "has CHECK constraints")
    return frame.schema


def _detail(spark: SparkSession, table: list[str]) -> Mapping[str, str] | None:
    """The table's properties; None for a view."""
    catalog, schema, name = place(spark).full(table)
    views = spark.sql(f"SHOW VIEWS IN {quoted([catalog, schema])}").collect()
    if name in (row["viewName"].lower() for row in views):
        return None
    rows = spark.sql(f"SHOW TBLPROPERTIES {quoted([catalog, schema, name])}").collect()
    return {row["key"]: row["value"] for row in rows}


def _policy(
    spark: SparkSession, schema: StructType, function: list[str], arguments: Sequence[Argument]
) -> dict[str, Any]:
    name = place(spark).full(function)
    columns = {a["column"]: _column(spark, schema, a["column"]) for a in arguments if "column" in a}
    texts = [quoted([columns[a["column"]]]) if "column" in a else a["literal"] for a in arguments]
    return {
        "function": list(name),
        "columns": list(columns.values()),
        "arguments": [columns[a["column"]] if "column" in a else a["literal"] for a in arguments],
        "expression": f"{quoted(name)}({', '.join(texts)})",
    }


def _column(spark: SparkSession, schema: StructType, column: str) -> str:
    """The column's name as the table has it. Raises Spark's own error for one that it has not."""
    known = {name.lower(): name for name in schema.names}
    if column.lower() not in known:
        spark.createDataFrame([], schema).select(quoted([column]))
    return known[column.lower()]


def _named(arguments: Sequence[Argument]) -> list[str]:
    return [argument["column"] for argument in arguments if "column" in argument]


def _require_distinct(columns: Sequence[str], condition: str, table: list[str]) -> None:
    if len({column.lower() for column in columns}) != len(columns):
        raise _refused(condition, table, "is given a column twice")


def _refused(condition: str, table: list[str], what: str) -> SqlError:
    state = "0A000" if "_FEATURE_" in condition else "42734"
    return SqlError(condition, f"The policy cannot be set: {'.'.join(table)} {what}.", sql_state=state)


def _masks(spark: SparkSession, table: list[str]) -> dict[str, Any]:
    here = place(spark)
    masks: dict[str, Any] = read_note(here.note("TABLE", here.full(table))).get(_MASKS, {})
    return masks


def _keep(spark: SparkSession, table: list[str], **values: Any) -> None:
    here = place(spark)
    path = here.note("TABLE", here.full(table))
    write_note(path, {**read_note(path), **values})
