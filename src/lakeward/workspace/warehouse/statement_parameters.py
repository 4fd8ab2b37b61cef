"""Named parameters of statements: texts, converted to their types as the function `cast` does.

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


def bind_parameters(spark: SparkSession, parameters: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """Return the arguments of `spark.sql` for the parameters of a request.

    Args:
        spark: The session of the statement; its settings decide how values are converted.
        parameters: Each has a `name`; without a `value` it is NULL, without a `type` a STRING.

    Raises:
        AnalysisException, ArithmeticException …: Spark's error for a value that its type does not have.
        SqlError: The type is an ARRAY, MAP or STRUCT.
    """
    if not parameters:
        return {}
    plain = {f"p{n}": F.lit(each.get("value")) for n, each in enumerate(parameters)}
    types = [_type(spark, str(each.get("type") or "STRING")) for each in parameters]
    casts = ", ".join(f"CAST(:p{n} AS {kind})" for n, kind in enumerate(types))
    frame = spark.sql(f"SELECT {casts}", args=plain)
    # Spark binds literals alone: those that the optimizer makes of the casts.
    found = optimized_plan(frame).expressions()
    literals = [found.apply(n).child() for n in range(len(types))]
    if any(each.nodeName() != "Literal" for each in literals):
        frame.collect()  # raises what the optimizer has put off
    return {
        str(each["name"]): _column(spark, value) for each, value in zip(parameters, literals, strict=True)
    }


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


def _column(spark: SparkSession, literal: Any) -> Column:
    from pyspark.sql.classic.column import Column

    jvm: Any = jvm_view(spark)
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(literal))
