"""Queries of SQL datasets as functions that give a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.entering import current_home, entered
from lakeward.pipelines.in_sql.reading import dotted
from lakeward.pipelines.in_sql.statement import Column, Span
from lakeward.pipelines.in_sql.text import Piece
from lakeward.pipelines.names import Home, parts, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["InUse", "output_name", "query_of"]


@dataclass(frozen=True)
class InUse:
    """Where short names lead after USE; nothing of it is set before."""

    catalog: str | None = None
    schema: str | None = None

    @property
    def is_default(self) -> bool:
        return self.catalog is None and self.schema is None

    def changed(self, catalog: str | None, schema: str | None) -> InUse:
        """After one more USE; a catalog is entered in its schema `default`."""
        if catalog is not None:
            return InUse(catalog, schema or "default")
        return replace(self, schema=schema)

    def full(self, name: str) -> str:
        """A name with the schema, and the catalog where one is set."""
        given = parts(name)
        if len(given) == 1 and self.schema is not None:
            given = (self.schema, *given)
        if len(given) == 2 and self.catalog is not None:
            given = (self.catalog, *given)
        return dotted(given)


def query_of(
    spark: SparkSession, piece: Piece, span: Span, home: InUse, columns: Sequence[Column]
) -> Callable[[], Any]:
    """The query at `span` of a statement, as a dataset function calls it."""
    text = piece.alone(*span)

    def query() -> DataFrame:
        with _used(spark, home):
            return _shaped(spark.sql(text), columns, piece)

    return query


def output_name(spark: SparkSession, relation: str) -> str:
    """The name of the first column of a query, by its text alone: its tables need not be there.

    Without a name of its own it is `version`. What Spark says of the text goes through.
    """
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(f"SELECT * FROM {relation}")  # noqa: S608
    while plan.children().nonEmpty():
        plan = plan.children().head()
        if plan.nodeName() in ("Project", "Aggregate"):
            outputs = plan.projectList() if plan.nodeName() == "Project" else plan.aggregateExpressions()
            first = outputs.head()
            has_name = first.nodeName() in ("Alias", "UnresolvedAttribute")
            return parts(first.name())[-1] if has_name else "version"
    return "version"


def _used(spark: SparkSession, home: InUse) -> AbstractContextManager[None]:
    if home.is_default:
        return nullcontext()
    here = current_home(spark)
    return entered(spark, Home(home.catalog or here.catalog, home.schema or here.schema))


def _shaped(df: DataFrame, columns: Sequence[Column], piece: Piece) -> DataFrame:
    """Generated columns that the query lacks are computed; a list of bare names labels the columns."""
    from pyspark.sql import functions as F

    has = {name.lower() for name in df.columns}
    if not columns:
        return df
    if all(column.type for column in columns):
        for column in columns:
            if column.generated is not None and column.name.lower() not in has:
                df = df.withColumn(column.name, F.expr(column.generated).cast(column.type))
        return df
    if {column.name.lower() for column in columns} != has and len(columns) != len(df.columns):
        raise PipelineError(
            "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE",
            f"{piece.file}:{piece.line}: {len(columns)} columns are listed, and the query has "
            f"{len(df.columns)}: {', '.join(df.columns)}.",
            next_step="List every column of the query, or give each a type.",
        )
    by_name = {column.name.lower() for column in columns} == has
    given = [column.name for column in columns] if by_name else df.columns
    return df.select(
        *[_labelled(F.col(quoted([name])), column) for name, column in zip(given, columns, strict=True)]
    )


def _labelled(value: Any, column: Column) -> Any:
    if column.type:
        value = value.cast(column.type)
    if column.comment is None:
        return value.alias(column.name)
    return value.alias(column.name, metadata={"comment": column.comment})
