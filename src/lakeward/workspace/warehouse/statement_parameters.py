"""Parameters of statements: texts, converted to their types as the function `cast` does.

Source: https://docs.databricks.com/api/workspace/statementexecution/executestatement (parameters)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from lakeward.errors import SqlError
from lakeward.spark_internals import jvm_view, optimized_plan, sql_parser

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_NESTED = ("array", "map", "struct")


def bind_parameters(
    spark: SparkSession, parameters: Sequence[Mapping[str, Any]]
) -> dict[str, Column] | list[Column]:
    """Return the arguments of `spark.sql` for the parameters of a request, a list if they have no names.

    Args:
        spark: The session of the statement; its settings decide how values are converted.
        parameters: Each has a `name`, or none has; without a `value` it is NULL, without a `type` a STRING.
            An ARRAY has `items`, a MAP keys and values in turn, which are parameters themselves.

    Raises:
        AnalysisException, ArithmeticException …: Spark's error for a value that its type does not have.
        SqlError: The type is a STRUCT, or an ARRAY or MAP without `items`.
    """
    if not parameters:
        return {}
    plain: dict[str, Column] = {}
    casts = [_expression(spark, each, plain) for each in parameters]
    frame = spark.sql(f"SELECT {', '.join(casts)}", args=plain or None)
    # Spark binds literals alone: those that the optimizer makes of the casts.
    found = optimized_plan(frame).expressions()
    literals = [found.apply(n).child() for n in range(len(casts))]
    if any(each.nodeName() != "Literal" for each in literals):
        frame.collect()  # raises what the optimizer has put off
    columns = [_column(spark, value) for value in literals]
    if all(each.get("name") is None for each in parameters):
        return columns
    return {str(each["name"]): column for each, column in zip(parameters, columns, strict=True)}


def _expression(spark: SparkSession, parameter: Mapping[str, Any], plain: dict[str, Column]) -> str:
    """Return the SQL of a parameter; its values become entries of `plain`."""
    kind, items = str(parameter.get("type") or "STRING"), parameter.get("items")
    if items is not None and kind.upper() in ("ARRAY", "MAP"):
        return f"{kind.lower()}({', '.join(_expression(spark, each, plain) for each in items)})"
    name = f"p{len(plain)}"
    plain[name] = F.lit(parameter.get("value"))
    return f"CAST(:{name} AS {_type(spark, kind)})"


def _type(spark: SparkSession, text: str) -> str:
    """Return the type in SQL. Raises Spark's ParseException for what is not a type."""
    kind = sql_parser(spark).parseDataType(text)
    if kind.typeName() in _NESTED:
        raise SqlError(
            "UNSUPPORTED_PARAMETER_TYPE",
            f"A parameter cannot have the type {text}: ARRAY, MAP and STRUCT are not supported.",
            sql_state="0A000",
        )
    return str(kind.sql())


def _column(spark: SparkSession, literal: object) -> Column:
    from pyspark.sql.classic.column import Column

    jvm: Any = jvm_view(spark)
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(literal))
