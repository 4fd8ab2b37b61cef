"""Queries of SQL datasets and of AUTO CDC FROM SNAPSHOT as functions that return a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.autocdc.snapshots import snapshot_error
from lakeward.pipelines.graph.column_ddl import ColumnDefinition, dotted_name
from lakeward.pipelines.graph.elements import split_name
from lakeward.pipelines.graph.session_scope import current_default_schema, use_default_schema
from lakeward.pipelines.sql.statements import SourceStatement, Span
from lakeward.quoting import quote_name
from lakeward.spark_internals import sql_parser
from lakeward.sql import tokenize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField


@dataclass(frozen=True)
class NameScope:
    """Catalog and schema of short names after USE; both None before."""

    catalog: str | None = None
    schema: str | None = None

    @property
    def is_default(self) -> bool:
        return self.catalog is None and self.schema is None

    def changed(self, catalog: str | None, schema: str | None) -> NameScope:
        """Return the scope after one more USE; a catalog is entered at its schema `default`."""
        if catalog is not None:
            return NameScope(catalog, schema or "default")
        return replace(self, schema=schema)

    def qualify(self, name: str) -> str:
        """Return a name with the schema, and with the catalog if one is set."""
        given = split_name(name)
        if len(given) == 1 and self.schema is not None:
            given = (self.schema, *given)
        if len(given) == 2 and self.catalog is not None:
            given = (self.catalog, *given)
        return dotted_name(given)


def query_function(
    spark: SparkSession,
    source: SourceStatement,
    span: Span,
    scope: NameScope,
    columns: Sequence[ColumnDefinition],
) -> Callable[[], Any]:
    """Return the query at `span` of a statement as a dataset function."""
    text = source.text_in_place(*span)

    def query() -> DataFrame:
        with _enter_scope(spark, scope):
            return _label_columns(spark.sql(text), columns, source)

    return query


def version_column_name(spark: SparkSession, relation: str) -> str:
    """Return the name of a query's first column from its text alone, without its tables.

    An unnamed column is called `version`. Errors of Spark's parser propagate.
    """
    plan = sql_parser(spark).parsePlan(f"SELECT * FROM {relation}")  # noqa: S608
    while plan.children().nonEmpty():
        plan = plan.children().head()
        if plan.nodeName() in ("Project", "Aggregate"):
            outputs = plan.projectList() if plan.nodeName() == "Project" else plan.aggregateExpressions()
            first = outputs.head()
            has_name = first.nodeName() in ("Alias", "UnresolvedAttribute")
            return split_name(first.name())[-1] if has_name else "version"
    return "version"


def _enter_scope(spark: SparkSession, scope: NameScope) -> AbstractContextManager[None]:
    if scope.is_default:
        return nullcontext()
    return use_default_schema(spark, current_default_schema(spark).or_given(scope.catalog, scope.schema))


def _label_columns(df: DataFrame, columns: Sequence[ColumnDefinition], source: SourceStatement) -> DataFrame:
    """Name the columns of a query by a list of bare names; typed columns are aligned by the table."""
    from pyspark.sql import functions as F

    if not columns or all(column.type for column in columns):
        return df
    has = {name.lower() for name in df.columns}
    if {column.name.lower() for column in columns} != has and len(columns) != len(df.columns):
        raise PipelineError(
            "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE",
            f"{source.location}: {len(columns)} columns are listed, "
            f"and the query has {len(df.columns)}: {', '.join(df.columns)}.",
            next_step="List every column of the query, or give each a type.",
        )
    by_name = {column.name.lower() for column in columns} == has
    given = [column.name for column in columns] if by_name else df.columns
    return df.select(
        *[_label(F.col(quote_name([name])), column) for name, column in zip(given, columns, strict=True)]
    )


def _label(value: Any, column: ColumnDefinition) -> Any:
    if column.type:
        value = value.cast(column.type)
    if column.comment is None:
        return value.alias(column.name)
    return value.alias(column.name, metadata={"comment": column.comment})


_LAST, _CURRENT = "last_snapshot_version", "current_snapshot_version"


def as_relations(text: str) -> str:
    """Turn calls of the two version functions into names of relations; other characters stay in place.

    >>> as_relations("SELECT 'last_snapshot_version()' FROM Last_Snapshot_Version( ) v")
    "SELECT 'last_snapshot_version()' FROM Last_Snapshot_Version    v"
    """
    tokens = tokenize(text) or ()
    for name, opening, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if name.word.lower() in (_LAST, _CURRENT) and (opening.text, closing.text) == ("(", ")"):
            text = text[: opening.start] + " " * (closing.end - opening.start) + text[closing.end :]
    return text


@dataclass(frozen=True)
class SqlSnapshots:
    """Snapshot source of a flow: maps the last version to the next snapshot and its version, or None.

    `versions` and `rows` are the two queries; `column` is the name of the version's only column.
    """

    spark: SparkSession
    flow: str
    column: str
    versions: Callable[[], DataFrame]
    rows: Callable[[], DataFrame]

    def __call__(self, last: Any) -> tuple[DataFrame, Any] | None:
        """Return the next snapshot. Raises PipelineError for several rows or columns of the version query."""
        field = self._field()
        with self._known(_LAST, field, last):
            found = self.versions().limit(2).collect()
        if len(found) > 1:
            raise snapshot_error(
                "INVALID_SNAPSHOT_VERSION",
                self.flow,
                "got more than one row from its version query.",
                "It returns the next version, or no row if no version is newer: add ORDER BY … LIMIT 1.",
            )
        if not found or found[0][0] == last:
            return None
        with self._known(_CURRENT, field, found[0][0]):
            return self.rows(), found[0][0]

    def nothing(self) -> tuple[DataFrame, Any]:
        """Return an example of a snapshot and a version, for the columns."""
        field = self._field()
        version = _sample_value(field.dataType)
        with self._known(_CURRENT, field, version):
            return self.rows(), version

    def _field(self) -> StructField:
        from pyspark.sql.types import NullType, StructField

        # The last version has the type of the query, which may compare it with its own.
        with self._known(_LAST, StructField(self.column, NullType()), None):
            fields = self.versions().schema.fields
        if len(fields) != 1:
            raise snapshot_error(
                "INVALID_SNAPSHOT_VERSION",
                self.flow,
                f"has a version query of {len(fields)} columns; a version is one, which may be a struct.",
            )
        return fields[0]

    @contextmanager
    def _known(self, relation: str, field: StructField, value: object) -> Iterator[None]:
        from pyspark.sql.types import StructType

        rows = [] if value is None else [(value,)]
        self.spark.createDataFrame(rows, StructType([field])).createOrReplaceTempView(relation)
        try:
            yield
        finally:
            self.spark.catalog.dropTempView(relation)


def _sample_value(type_: DataType) -> Any:
    """Return some value of a type."""
    from pyspark.sql import types as T

    if isinstance(type_, T.StructType):
        return T.Row(**{field.name: _sample_value(field.dataType) for field in type_.fields})
    values: dict[type, Any] = {
        T.StringType: "",
        T.TimestampType: datetime(1970, 1, 1, tzinfo=timezone.utc),
        T.TimestampNTZType: datetime(1970, 1, 1),  # noqa: DTZ001  # it has no zone
        T.DateType: date(1970, 1, 1),
        T.DecimalType: Decimal(0),
        T.BinaryType: b"",
        T.FloatType: 0.0,
        T.DoubleType: 0.0,
    }
    return values.get(type(type_), 0)
