"""SHOW SCHEMAS, TABLES, VIEWS and the listings of what a local lakehouse has none of, as on Databricks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name
from lakeward.spark_internals import scala_list, session_state
from lakeward.sql.construct import BEGINNING, Command, Construct, Edit, Edits, Refusal, Rows, in_area
from lakeward.sql.constructs.catalogs import like_pattern, schema_and_pattern
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class RenameFirstColumn(Command):
    """Runs a SHOW statement; its first column, `namespace` in Spark, has the name of Databricks."""

    column: str
    text: str

    def run(self, spark: SparkSession) -> DataFrame:
        rows = run_with_delta(spark, self.text)
        return rows.toDF(self.column, *rows.columns[1:])


@dataclass(frozen=True)
class ListTables(Command):
    """Lists tables and views of a schema, and the temporary views of the session after them."""

    columns: list[str]
    pattern: str | None
    text: str

    def run(self, spark: SparkSession) -> Rows:
        rows = [list(row) for row in run_with_delta(spark, self.text).collect()]
        listed = {name for _, name, is_temporary in rows if is_temporary}
        temporary = session_state(spark).catalog().listLocalTempViews(self.pattern or "*")
        names = [each.table() for each in scala_list(temporary)]
        rows += [["", name, True] for name in names if name not in listed]
        schema, name, is_temporary = self.columns
        return Rows(f"{schema} STRING, {name} STRING, {is_temporary} BOOLEAN", rows)


def _show_schemas(cursor: TokenCursor) -> RenameFirstColumn:
    cursor.need("SHOW")
    cursor.one_of("SCHEMAS", "DATABASES")
    schema_and_pattern(cursor)
    return RenameFirstColumn("databaseName", cursor.text(0))


def _show_tables(cursor: TokenCursor) -> ListTables:
    cursor.need("SHOW", "TABLES")
    _, pattern = schema_and_pattern(cursor)
    return ListTables(["database", "tableName", "isTemporary"], pattern, cursor.text(0))


def _show_views(cursor: TokenCursor) -> ListTables:
    cursor.need("SHOW", "VIEWS")
    _, pattern = schema_and_pattern(cursor)
    return ListTables(["namespace", "viewName", "isTemporary"], pattern, cursor.text(0))


# Objects that no local lakehouse has: the columns of their listings, which have no rows.
_ABSENT = {
    "SHARES": "name STRING, created_at TIMESTAMP, created_by STRING, comment STRING",
    "STORAGE CREDENTIALS": "name STRING, comment STRING",
    "SERVICE CREDENTIALS": "name STRING, comment STRING",
    "CREDENTIALS": "name STRING, comment STRING",
}


@dataclass(frozen=True)
class ListNothing(Command):
    """Lists objects that no local lakehouse has."""

    schema: str

    def run(self, _: SparkSession) -> Rows:
        return Rows(self.schema, [])


def _show_absent(cursor: TokenCursor) -> ListNothing:
    cursor.need("SHOW")
    kind = cursor.phrase(*_ABSENT)
    if kind is None:
        raise Unmatched
    like_pattern(cursor)
    cursor.end()
    return ListNothing(_ABSENT[kind])


def _show_columns(cursor: TokenCursor) -> Edits | Refusal:
    """Rewrite SHOW COLUMNS IN t IN catalog.schema: Spark takes the second name as a schema's alone."""
    cursor.need("SHOW", "COLUMNS")
    cursor.one_of("IN", "FROM")
    first = cursor.next
    table = cursor.name(3)
    clause = cursor.at
    cursor.one_of("IN", "FROM")
    schema = cursor.name(2)
    cursor.end()
    if len(schema) != 2:
        raise Unmatched
    own = table[:-1]
    if [part.lower() for part in own] != [part.lower() for part in schema[len(schema) - len(own) :]]:
        names = {"namespaceA": quote_name(schema), "namespaceB": quote_name(own)}
        message = "SHOW COLUMNS with conflicting namespaces: {namespaceA} != {namespaceB}.".format(**names)
        return Refusal("SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE", message, "42K05", names)
    tokens = cursor.read(clause)
    assert first is not None
    last = tokens[0].start
    return Edits(
        (
            Edit(first.start, last, f"{quote_name([*schema, table[-1]])} "),
            *(Edit(token.start, token.end, " " * len(token.text)) for token in tokens),
        )
    )


CONSTRUCTS = in_area(
    "Catalogs and schemas",
    Construct(
        name="SHOW COLUMNS IN t IN catalog.schema",
        verdict="rewritten",
        example="SHOW COLUMNS IN t IN main.default",
        statement=_show_columns,
        trigger=BEGINNING + r"show\s+columns\b",
    ),
    Construct(
        name="SHOW SCHEMAS",
        example="SHOW SCHEMAS IN main",
        note="the column is `databaseName`",
        statement=_show_schemas,
        trigger=BEGINNING + r"show\s+(?:schemas|databases)\b",
    ),
    Construct(
        name="SHOW TABLES",
        example="SHOW TABLES IN main.default",
        note="the first column is `database`; temporary views are listed, too",
        statement=_show_tables,
        trigger=BEGINNING + r"show\s+tables\b",
    ),
    Construct(
        name="SHOW VIEWS",
        example="SHOW VIEWS IN main.default",
        note="temporary views are listed, too",
        statement=_show_views,
        trigger=BEGINNING + r"show\s+views\b",
    ),
    Construct(
        name="SHOW SHARES, CREDENTIALS",
        example="SHOW STORAGE CREDENTIALS",
        note="also STORAGE and SERVICE CREDENTIALS; no rows: a local lakehouse has no such objects",
        statement=_show_absent,
    ),
)
