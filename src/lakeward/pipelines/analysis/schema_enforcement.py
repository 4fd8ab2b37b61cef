"""Declared schemas, and aligning a query's columns to them by name without narrowing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.nested_types import cast_by_name, ordered_as
from lakeward.pipelines.graph.column_ddl import generated_columns, spark_ddl
from lakeward.pipelines.graph.elements import Dataset, Flow
from lakeward.pipelines.graph.error_location import error_message
from lakeward.quoting import quote_name
from lakeward.spark_internals import jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def declared_schema(dataset: Dataset) -> StructType | None:
    """Return the declared schema of a dataset, None without one. Raises PipelineError."""
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    given = dataset.options.schema
    if given is None or isinstance(given, StructType):
        return given
    if not isinstance(given, str):
        raise PipelineError(
            "INVALID_SCHEMA",
            f"{dataset.location}: schema= of `{dataset.name}` takes DDL text or a StructType.",
        )
    try:
        parsed = StructType.fromDDL(spark_ddl(given) or given)
    except PySparkException as error:
        raise PipelineError(
            error.getCondition() or "INVALID_SCHEMA",
            f"{dataset.location}: the declared schema of `{dataset.name}` cannot be parsed: "
            + error_message(error),
        ) from None
    return parsed if isinstance(parsed, StructType) else None


_NESTED = ("struct", "array", "map")


def require_common_shapes(schema: StructType, found: StructType, dataset: Dataset, flow: Flow) -> None:
    """Raise PipelineError if a column of a flow is nested, and the other flows' is not or differently.

    No table holds both; types without fields are cast as in other writes.
    """
    known = {field.name.lower(): field.dataType for field in schema.fields}
    for field in found.fields:
        other = known.get(field.name.lower())
        kinds = {each.typeName() for each in (field.dataType, other) if each is not None}
        if len(kinds) > 1 and not kinds.isdisjoint(_NESTED):
            assert other is not None
            raise PipelineError(
                "UNABLE_TO_INFER_PIPELINE_TABLE_SCHEMA",
                f"{flow.location}: the flow `{flow.name}` writes `{field.name}` as "
                f"{field.dataType.simpleString()}; `{dataset.name}` has it as {other.simpleString()}.",
                next_step="Give the flows of a table the same types.",
            )


def align_to_schema(
    df: DataFrame, declared: StructType | None, dataset: Dataset, *, complete: bool
) -> DataFrame:
    """Return `df` with the declared columns in the declared order and types.

    A declared column that the query lacks is omitted, or NULL with `complete`. With `complete`, generated
    and identity columns are computed; otherwise the table computes them. Raises PipelineError for an
    undeclared column and for a type that would lose values.
    """
    from pyspark.sql import functions as F

    if declared is None:
        return df
    if complete:
        df = _add_generated_columns(df, dataset)
    has = {field.name.lower(): field for field in df.schema.fields}
    wanted = {field.name.lower() for field in declared.fields}
    problems = [f"`{field.name}` is not declared" for name, field in has.items() if name not in wanted]
    columns = []
    for field in declared.fields:
        given = has.get(field.name.lower())
        if given is None:
            if complete:
                columns.append(F.lit(None).cast(field.dataType).alias(field.name, metadata=field.metadata))
            continue
        column = F.col(quote_name([given.name]))
        if given.dataType != field.dataType:
            ordered = ordered_as(given.dataType, field.dataType)
            if ordered is None or not _can_up_cast(df, ordered, field.dataType):
                problems.append(f"`{field.name}` is {_type_name(given)}, declared {_type_name(field)}")
                continue
            column = cast_by_name(column, given.dataType, field.dataType)
        columns.append(column.alias(field.name, metadata={**given.metadata, **field.metadata}))
    if problems:
        raise PipelineError(
            "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE",
            f"{dataset.location}: the declared schema of `{dataset.name}` does not match its query: "
            f"{'; '.join(problems)}.",
            next_step="Change the declared schema, or cast in the query.",
        )
    return df.select(*columns)


def _add_generated_columns(df: DataFrame, dataset: Dataset) -> DataFrame:
    """Add missing generated columns to `df`; identities follow the order of the rows."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    given = df.columns
    text = dataset.options.schema
    for name, column in (generated_columns(text) if isinstance(text, str) else {}).items():
        if name in (each.lower() for each in given):
            continue
        if column.generated is not None:
            df = df.withColumn(column.name, F.expr(column.generated).cast(column.type))
            continue
        start, step = _identity_range(column.identity or "")
        row = F.row_number().over(Window.orderBy(F.monotonically_increasing_id()))
        df = df.withColumn(column.name, (F.lit(start) + (row - 1) * F.lit(step)).cast("bigint"))
    return df


def _identity_range(clause: str) -> tuple[int, int]:
    """Return the first value of an identity column and the increment.

    >>> _identity_range("GENERATED ALWAYS AS IDENTITY (START WITH -5 INCREMENT BY 10)"), _identity_range("")
    ((-5, 10), (1, 1))
    """
    numbers = {
        word: int("".join(found.groups()))
        for word in ("START WITH", "INCREMENT BY")
        if (found := re.search(word.replace(" ", r"\s+") + r"\s+([-+]?)\s*(\d+)", clause, re.IGNORECASE))
    }
    return numbers.get("START WITH", 1), numbers.get("INCREMENT BY", 1)


def _type_name(field: Any) -> str:
    return str(field.dataType.simpleString())


def _can_up_cast(df: DataFrame, given: Any, wanted: Any) -> bool:
    java = jvm_view(df.sparkSession).org.apache.spark.sql
    parse = java.types.DataType.fromJson
    return bool(java.catalyst.expressions.Cast.canUpCast(parse(given.json()), parse(wanted.json())))


def nullable_schema(schema: StructType) -> StructType:
    """Return the schema with all columns nullable, as a stored table returns it."""
    import json

    from pyspark.sql.types import StructType

    text = schema.json()
    for flag in ("nullable", "containsNull", "valueContainsNull"):
        text = text.replace(f'"{flag}":false', f'"{flag}":true')
    return StructType.fromJson(json.loads(text))
