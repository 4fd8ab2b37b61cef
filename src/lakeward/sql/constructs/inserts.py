"""INSERT … REPLACE USING and REPLACE ON, which Spark parses and Delta does not support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_identifier, quote_name
from lakeward.session import INSERTED_COLUMNS
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_QUERY = ("SELECT", "VALUES", "TABLE", "WITH", "FROM", "MAP", "REDUCE")
_BEHIND_ROWS = (
    *("UNION", "EXCEPT", "MINUS", "INTERSECT"),
    *("ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET", "WINDOW"),
)
# True in the rows to insert; the same rows with false find the rows that they replace.
_IS_INSERTED = "__lakeward_comes"


@dataclass(frozen=True)
class InsertReplace(Command):
    """Replaces rows of a Delta table in one commit: a MERGE that deletes matches and inserts the query.

    Attributes:
        table: The target.
        columns: The column list, None without one.
        by_name: Whether columns match by name.
        alias: The target's alias.
        using: The columns of REPLACE USING; None for REPLACE ON.
        on: The condition of REPLACE ON.
        query: The query to insert.
        source: The query's alias.
    """

    table: list[str]
    columns: list[str] | None
    by_name: bool
    alias: str | None
    using: list[str] | None
    on: str | None
    query: str
    source: str | None

    def run(self, spark: SparkSession) -> Rows:
        from delta.tables import DeltaTable
        from pyspark.sql import functions as F

        target = DeltaTable.forName(spark, quote_name(self.table))
        source = self.source or "__lakeward_source"
        prefix = quote_identifier(source)
        rows = spark.sql(self.query)
        fields = self.columns or (rows.columns if self.by_name else target.toDF().columns)
        if len(fields) != len(rows.columns):
            raise _arity_mismatch(self.table, fields, rows.columns)
        alias = self.alias or self.table[-1]
        condition = self.on
        if condition is not None:
            # MERGE would suggest the column that is added below for one that does not exist.
            target.toDF().alias(alias).join(rows.alias(source), F.expr(condition))
        names = rows.columns
        finders = rows
        if self.using is not None:
            condition = " AND ".join(
                f"{quote_identifier(alias)}.{quote_identifier(name)} <=> {prefix}.{quote_identifier(name)}"
                for name in self.using
            )
            names = fields
            rows = _with_collations(rows.toDF(*fields), target.toDF().schema)
            finders = rows.select(*map(quote_identifier, self.using)).distinct()
        values = {
            quote_identifier(field): F.col(f"{prefix}.{quote_identifier(name)}")
            for field, name in zip(fields, names, strict=True)
        }
        both = rows.withColumn(_IS_INSERTED, F.lit(True)).unionByName(
            finders.withColumn(_IS_INSERTED, F.lit(False)), allowMissingColumns=True
        )
        merged = (
            target.alias(alias)
            .merge(both.alias(source), f"NOT {prefix}.{_IS_INSERTED} AND ({condition})")
            .whenMatchedDelete()
            .whenNotMatchedInsert(f"{prefix}.{_IS_INSERTED}", values)  # type: ignore[arg-type]  # Columns are accepted
            .execute()
            .collect()[0]
        )
        inserted = merged["num_inserted_rows"]
        return Rows(INSERTED_COLUMNS, [[inserted, inserted]])


def _with_collations(rows: DataFrame, schema: StructType) -> DataFrame:
    """Return the rows with the collations of the table's columns: keys are equal as they are in the table."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    types = {field.name.lower(): field.dataType for field in schema.fields}
    columns = []
    for field in rows.schema.fields:
        wanted, column = types.get(field.name.lower()), F.col(quote_identifier(field.name))
        if (
            isinstance(wanted, StringType)
            and isinstance(field.dataType, StringType)
            and wanted != field.dataType
        ):
            column = F.collate(column, wanted.collation).alias(field.name)
        columns.append(column)
    return rows.select(*columns)


def _arity_mismatch(table: list[str], fields: list[str], columns: list[str]) -> SqlError:
    which = "NOT_ENOUGH_DATA_COLUMNS" if len(columns) < len(fields) else "TOO_MANY_DATA_COLUMNS"
    return SqlError(
        f"INSERT_COLUMN_ARITY_MISMATCH.{which}",
        f"The query has {len(columns)} columns, the table {len(fields)}.",
        parameters={
            "tableName": quote_name(table),
            "tableColumns": ", ".join(map(quote_identifier, fields)),
            "dataColumns": ", ".join(map(quote_identifier, columns)),
        },
    )


def _insert_replace(cursor: TokenCursor) -> InsertReplace:
    cursor.need("INSERT", "INTO")
    cursor.words("TABLE")
    table = cursor.name()
    columns = cursor.part_list() if cursor.words("(") else None
    by_name = columns is None and cursor.words("BY", "NAME")
    alias = None
    is_alias = cursor.next is not None and cursor.next.word not in ("BY", "REPLACE")
    if columns is None and not by_name and is_alias:
        cursor.words("AS")
        alias = cursor.part()
        by_name = cursor.words("BY", "NAME")
    cursor.need("REPLACE")
    using = on = None
    if cursor.words("USING"):
        cursor.need("(")
        using = cursor.part_list()
    else:
        cursor.need("ON")
        on = _condition(cursor)
    query, source = _query(cursor)
    return InsertReplace(
        table=table,
        columns=columns,
        by_name=by_name,
        alias=alias,
        using=using,
        on=on,
        query=query,
        source=source,
    )


def _condition(cursor: TokenCursor) -> str:
    """Read everything up to the query."""
    begin = cursor.at
    cursor.skip()
    while cursor.next is not None:
        if cursor.next.word in _QUERY or _opens_query(cursor):
            return cursor.text(begin)
        cursor.skip()
    raise Unmatched


def _opens_query(cursor: TokenCursor) -> bool:
    ahead = cursor.ahead(2)
    return len(ahead) == 2 and ahead[0].text == "(" and ahead[1].word in _QUERY


def _query(cursor: TokenCursor) -> tuple[str, str | None]:
    """Read the query, and its alias if it is in parentheses, or an inline table."""
    begin = cursor.at
    if not _opens_query(cursor):
        if cursor.next is None:
            raise Unmatched
        alias = _inline_table_alias(cursor)
        cursor.finish()
        return cursor.text(begin), alias
    cursor.skip()
    end = cursor.at
    if cursor.next is None:
        return cursor.text(begin, end), None
    cursor.words("AS")
    source = cursor.part()
    if not cursor.words("("):
        cursor.end()
        return cursor.text(begin, end), source
    cursor.part_list()
    cursor.end()
    return "FROM " + cursor.text(begin), source


def _inline_table_alias(cursor: TokenCursor) -> str | None:
    """Read an inline table and return its alias: `VALUES (1), (2) AS s(id)`; None for another query."""
    if not cursor.words("VALUES"):
        return None
    while cursor.ahead(1) and cursor.word not in _BEHIND_ROWS:
        is_row = cursor.word == "("
        cursor.skip()
        if cursor.words("AS") or (is_row and _is_alias(cursor)):
            mark = cursor.at
            alias = cursor.part()
            if cursor.words("("):
                cursor.part_list()
            if not cursor.ahead(1):
                return alias
            cursor.at = mark
    return None


def _is_alias(cursor: TokenCursor) -> bool:
    return any(token.is_name and token.word not in _BEHIND_ROWS for token in cursor.ahead(1))


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="INSERT … REPLACE USING, REPLACE ON",
        example="INSERT INTO t AS t REPLACE ON t.id = s.id (SELECT 1 AS id) AS s",
        note="one MERGE: deletes the rows that match a row of the query, inserts all rows of the query",
        statement=_insert_replace,
        trigger=BEGINNING + r"insert\s+into\s.*?\breplace\s+(?:using|on)\b",
    ),
)
