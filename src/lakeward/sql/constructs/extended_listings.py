"""SHOW TABLE EXTENDED with views, and with what DESCRIBE EXTENDED shows of each table.

Spark lists no views of catalogs other than its own, and joins the letters of the properties by commas.
Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-aux-show-table-extended
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name
from lakeward.spark_internals import scala_list, session_state
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.catalogs import like_pattern, listed_schema
from lakeward.sql.constructs.listings import RenameFirstColumn
from lakeward.sql.constructs.table_descriptions import DescribeExtended
from lakeward.sql.session_context import SessionContext, current_context, run_with_delta
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "database STRING, tableName STRING, isTemporary BOOLEAN, information STRING"
# Rows of DESCRIBE EXTENDED, and the section that ends them.
_SECTIONS = ("# Detailed Table Information", "# Detailed View Information")
_REPEATED = ("Namespace", "Catalog", "Database", "Table", "View", "Owner", "Type", "Comment", "Table_type")


@dataclass(frozen=True)
class ListTablesExtended(Command):
    """Lists tables and views of a schema, and the temporary views of the session after them.

    Attributes:
        schema: The schema, None for the current one.
        pattern: What names match.
        text: The statement.
    """

    schema: list[str] | None
    pattern: str
    text: str

    def run(self, spark: SparkSession) -> Rows:
        context = current_context(spark)
        schema = context.qualify(self.schema, 2) if self.schema else (context.catalog, context.schema)
        literal = self.pattern.replace("\\", "\\\\").replace("'", "\\'")
        listed = run_with_delta(spark, f"SHOW TABLES IN {quote_name(schema)} LIKE '{literal}'").collect()
        rows = [
            [namespace, name, False, "\n".join(_information(spark, context, (*schema, name)))]
            for namespace, name, is_temporary in listed
            if not is_temporary
        ]
        temporary = session_state(spark).catalog().listLocalTempViews(self.pattern)
        if scala_list(temporary):
            shown = run_with_delta(spark, self.text).collect()
            rows += [["", name, True, text] for _, name, is_temporary, text in shown if is_temporary]
        return Rows(_COLUMNS, rows)


def _information(spark: SparkSession, context: SessionContext, name: tuple[str, str, str]) -> Iterator[str]:
    """Yield the lines about a table. The comment is the last of them: clients read it up to the schema."""
    from pyspark.errors import AnalysisException

    shown = quote_name(name)
    described = DescribeExtended(list(name), f"DESCRIBE TABLE EXTENDED {shown}").run(spark).collect()
    names = [row[0] for row in described]
    start = next((at for at, each in enumerate(names) if each in _SECTIONS), len(names)) + 1
    end = next((at for at in range(start, len(names)) if not names[at]), len(names))
    values = {row[0]: row[1] for row in described[start:end]}
    owner = context.metadata("TABLE", name).get("owner") or values.get("Owner")
    yield from (
        f"{field}: {value}" for field, value in zip(("Catalog", "Database", "Table"), name, strict=True)
    )
    yield f"Owner: {owner or context.settings.user}"
    yield f"Type: {values.get('Type', 'MANAGED')}"
    yield from (f"{field}: {value}" for field, value in values.items() if field not in _REPEATED)
    if values.get("Comment"):
        yield f"Comment: {values['Comment']}"
    # A view whose tables are gone has no schema.
    with suppress(AnalysisException):
        yield f"Schema: {spark.table(shown).schema.treeString()}"


def _show_table_extended(cursor: TokenCursor) -> Command:
    cursor.need("SHOW", "TABLE", "EXTENDED")
    schema, pattern = listed_schema(cursor), like_pattern(cursor)
    if pattern is None or cursor.words("PARTITION"):
        # Spark reports a missing pattern, and describes the partition.
        cursor.finish()
        return RenameFirstColumn("database", cursor.text(0))
    cursor.end()
    return ListTablesExtended(schema, pattern, cursor.text(0))


CONSTRUCTS = in_area(
    "Catalogs and schemas",
    Construct(
        name="SHOW TABLE EXTENDED",
        example="SHOW TABLE EXTENDED IN main.default LIKE '*'",
        note="the first column is `database`; views are listed, too, with the owner of each",
        statement=_show_table_extended,
        trigger=BEGINNING + r"show\s+table\s+extended\b",
    ),
)
