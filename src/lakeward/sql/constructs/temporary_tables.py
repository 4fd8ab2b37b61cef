"""CREATE TEMPORARY TABLE: a Delta table that only the session sees.

The rows are in a temporary folder, which is removed when the process ends. The name is a temporary view of
the folder: Spark resolves it before tables of the current schema, and Delta runs INSERT, UPDATE, DELETE and
MERGE through it. https://docs.databricks.com/aws/en/tables/temporary-tables
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_identifier, quote_name, quote_string
from lakeward.spark_internals import session_state
from lakeward.sql.construct import BEGINNING, Command, Construct, Refusal, RewriteResult, in_area
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXCLUSIVE = "TEMP_TABLE_CREATION_MUTUAL_EXCLUSIVE_SPECS"
TEMPORARY_TABLES = "lakeward-temporary-tables-"
"""Prefix of the folders with the rows."""


@dataclass(frozen=True)
class CreateTemporaryTable(Command):
    """Creates or replaces a temporary table.

    Attributes:
        table: Its name.
        create: Whether a missing table is created.
        replace: Whether an existing temporary table or view is replaced.
        definition: The statement's text after the name.
    """

    table: str
    create: bool
    replace: bool
    definition: str

    def run(self, spark: SparkSession) -> None:
        name = quote_identifier(self.table)
        exists = session_state(spark).catalog().getTempView(self.table).isDefined()
        if exists and not self.replace:
            raise SqlError(
                "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS",
                f"The temporary table or view {name} already exists.",
                parameters={"relationName": name},
            )
        if not exists and not self.create:
            raise _not_found(self.table)
        location = (_folder() / uuid.uuid4().hex).as_uri()
        spark.sql(f"CREATE TABLE delta.{quote_identifier(location)} {self.definition}")
        spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {name} USING delta OPTIONS (path {quote_string(location)})"
        )


@dataclass(frozen=True)
class DropTemporaryTable(Command):
    """Drops a temporary table; a table of the same name in the current schema stays."""

    table: str
    if_exists: bool

    def run(self, spark: SparkSession) -> None:
        dropped = session_state(spark).catalog().dropTempView(self.table)
        if not dropped and not self.if_exists:
            raise _not_found(self.table)


def _not_found(table: str) -> SqlError:
    name = quote_identifier(table)
    return SqlError(
        "TABLE_OR_VIEW_NOT_FOUND",
        f"The temporary table {name} cannot be found.",
        parameters={"relationName": name, "searchPath": "[`system`.`session`]"},
    )


@cache
def _folder() -> Path:
    """Return the folder of this process's temporary tables."""
    folder = Path(tempfile.mkdtemp(prefix=TEMPORARY_TABLES))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _create_temporary_table(cursor: TokenCursor) -> RewriteResult:
    create = cursor.words("CREATE")
    replace = cursor.words("OR", "REPLACE") if create else cursor.words("REPLACE")
    if not (cursor.words("TEMPORARY") or cursor.words("TEMP")):
        raise Unmatched
    cursor.need("TABLE")
    if cursor.words("IF", "NOT", "EXISTS"):
        return _unsupported_clause("IF NOT EXISTS", "WITHOUT_SUGGESTION")
    name = cursor.name()
    if len(name) > 1:
        return Refusal(
            "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS",
            f"A temporary table has a name of one part, not {quote_name(name)}.",
            "428EK",
            {"actualName": quote_name(name)},
        )
    begin = cursor.at
    if cursor.next is None:
        raise Unmatched
    refusal = _refused_clause(cursor)
    if refusal is not None:
        return refusal
    cursor.finish()
    return CreateTemporaryTable(name[0], create=create, replace=replace, definition=cursor.text(begin))


def _refused_clause(cursor: TokenCursor) -> Refusal | None:
    """Return the error for USING or LOCATION among the clauses before the query."""
    clause = cursor.skip_to("USING", "LOCATION", "AS", "SELECT", "WITH")
    if clause == "USING":
        return Refusal(
            "INVALID_SQL_SYNTAX.CREATE_TEMP_TABLE_USING_PROVIDER",
            "Invalid SQL syntax: CREATE TEMPORARY TABLE ... USING ... is a deprecated syntax. Remove the "
            "USING clause, or use CREATE TEMPORARY VIEW.",
            "42000",
        )
    if clause == "LOCATION":
        return _unsupported_clause("LOCATION", "WITH_PERMANENT_TABLE_SUGGESTION")
    return None


def _unsupported_clause(clause: str, condition: str) -> Refusal:
    suggestion = " Create a permanent table instead." if condition.startswith("WITH_") else ""
    message = f"CREATE TEMPORARY TABLE does not support specifying {clause}.{suggestion}"
    return Refusal(f"{_EXCLUSIVE}.{condition}", message, "0A000", {"unsupportedSpec": clause})


def _drop_temporary_table(cursor: TokenCursor) -> DropTemporaryTable:
    cursor.need("DROP")
    cursor.one_of("TEMPORARY", "TEMP")
    cursor.need("TABLE")
    if_exists = cursor.words("IF", "EXISTS")
    table = cursor.part()
    cursor.end()
    return DropTemporaryTable(table, if_exists)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="CREATE TEMPORARY TABLE",
        example="CREATE OR REPLACE TEMPORARY TABLE t AS SELECT 1 AS id",
        note=(
            "visible in the session only, hides a permanent table of the same name; removed with the session "
            "or by DROP TABLE. Platform: SQL warehouses and runtime 18.1 or later"
        ),
        starts=("CREATE", "REPLACE"),
        statement=_create_temporary_table,
        trigger=BEGINNING + r"(?:create\s+(?:or\s+replace\s+)?|replace\s+)temp(?:orary)?\s+table\b",
        test="tests/sql/test_temporary_tables.py",
    ),
    Construct(
        name="DROP TEMPORARY TABLE",
        example="DROP TEMPORARY TABLE IF EXISTS t",
        note="a table of the same name in a schema stays",
        statement=_drop_temporary_table,
    ),
)
