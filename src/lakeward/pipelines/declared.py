"""Declared schemas: how a query's columns are fitted to them (spec §7.4.3, by name and never narrowed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.blame import clean
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.in_sql import plain_ddl
from lakeward.pipelines.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["declared_schema", "fit", "merged", "nullable"]


def declared_schema(dataset: Dataset) -> StructType | None:
    """The schema that the files give a dataset, None when they do not. Raises PipelineError."""
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    given = dataset.options.schema
    if given is None or isinstance(given, StructType):
        return given
    if not isinstance(given, str):
        raise PipelineError(
            "INVALID_SCHEMA", f"{dataset.place}: schema= of `{dataset.name}` takes DDL text or a StructType."
        )
    try:
        parsed = StructType.fromDDL(plain_ddl(given) or given)
    except PySparkException as error:
        raise PipelineError(
            error.getCondition() or "INVALID_SCHEMA",
            f"{dataset.place}: the declared schema of `{dataset.name}` cannot be read: {clean(error)}",
        ) from None
    return parsed if isinstance(parsed, StructType) else None


def fit(df: DataFrame, declared: StructType | None, dataset: Dataset, *, complete: bool) -> DataFrame:
    """`df` with the declared columns in the declared order and types.

    A declared column that the query lacks stays out, or is NULL with `complete`. Raises PipelineError for
    a column that is not declared, and for a type that would lose values.
    """
    from pyspark.sql import functions as F

    if declared is None:
        return df
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
        column = F.col(quoted([given.name]))
        if given.dataType != field.dataType:
            if not _widens(df, given.dataType, field.dataType):
                problems.append(f"`{field.name}` is {_type(given)}, declared {_type(field)}")
                continue
            column = column.cast(field.dataType)
        columns.append(column.alias(field.name, metadata={**given.metadata, **field.metadata}))
    if problems:
        raise PipelineError(
            "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE",
            f"{dataset.place}: the declared schema of `{dataset.name}` does not fit its query: "
            f"{'; '.join(problems)}.",
            next_step="Change the declared schema, or cast in the query.",
        )
    return df.select(*columns)


def _type(field: Any) -> str:
    return str(field.dataType.simpleString())


def _widens(df: DataFrame, given: Any, wanted: Any) -> bool:
    java = df.sparkSession._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    parse = java.types.DataType.fromJson
    return bool(java.catalyst.expressions.Cast.canUpCast(parse(given.json()), parse(wanted.json())))


def merged(first: StructType, second: StructType) -> StructType:
    """The columns of `first`, then those of `second` that are new by name."""
    from pyspark.sql.types import StructType

    known = {field.name.lower() for field in first.fields}
    return StructType([*first.fields, *(field for field in second.fields if field.name.lower() not in known)])


def nullable(schema: StructType) -> StructType:
    """The schema as a stored table gives it back: every column may be NULL."""
    import json

    from pyspark.sql.types import StructType

    text = schema.json()
    for flag in ("nullable", "containsNull", "valueContainsNull"):
        text = text.replace(f'"{flag}":false', f'"{flag}":true')
    return StructType.fromJson(json.loads(text))
