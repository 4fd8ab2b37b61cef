"""Transactions over several statements and tables.

Sources: https://docs.databricks.com/aws/en/transactions/transaction-modes and the pages of the statements,
https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-txn-begin and the ones next to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.sql.construct import (
    BEGINNING,
    Command,
    Construct,
    RewriteResult,
    Rows,
    in_area,
)
from lakeward.sql.script import without_atomic
from lakeward.sql.token_cursor import TRANSACTION_WORDS, TokenCursor
from lakeward.sql.transactions import begin, commit, is_autocommit, roll_back, set_autocommit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class AtomicBlock(Command):
    """Runs a SQL script; if it fails, restores the tables that it has written to the versions before it.

    Other sessions see each statement's changes at once. In a transaction, the script is a part of it.

    Attributes:
        script: The block as a script that Spark runs: without ATOMIC.
    """

    script: str

    def run(self, spark: SparkSession) -> DataFrame:
        """Return the result of the script's last query.

        Raises:
            SqlError: TRANSACTION_ROLLBACK_CONFLICT: the block failed, and another writer changed a table.
        """
        if not begin(spark, is_interactive=False):
            return spark.sql(self.script)
        try:
            result = spark.sql(self.script)
        except Exception:
            roll_back(spark)
            raise
        commit(spark)
        return result


@dataclass(frozen=True)
class BeginTransaction(Command):
    """Begins the transaction of the session; at the end of the process it is rolled back."""

    def run(self, spark: SparkSession) -> None:
        """Raise SqlError if the session has a transaction (TRANSACTION_NOT_SUPPORTED.NESTED_TRANSACTION)."""
        if not begin(spark, is_interactive=True):
            raise SqlError(
                "TRANSACTION_NOT_SUPPORTED.NESTED_TRANSACTION",
                "Failed to execute the statement. The session has a transaction; transactions do not nest.",
                sql_state="0A000",
                next_step="Run COMMIT or ROLLBACK first.",
            )


@dataclass(frozen=True)
class CommitTransaction(Command):
    """Ends the transaction of the session: its changes remain."""

    def run(self, spark: SparkSession) -> None:
        """Raise SqlError without a transaction (NO_ACTIVE_TRANSACTION)."""
        if not commit(spark):
            raise SqlError(
                "NO_ACTIVE_TRANSACTION",
                "COMMIT was run, and the session has no transaction.",
                sql_state="25000",
                next_step="BEGIN TRANSACTION begins one.",
            )


@dataclass(frozen=True)
class RollbackTransaction(Command):
    """Undoes the changes of the session's transaction, if it has one."""

    def run(self, spark: SparkSession) -> None:
        """Raise SqlError if another writer changed one of the tables (TRANSACTION_ROLLBACK_CONFLICT)."""
        roll_back(spark)


@dataclass(frozen=True)
class SetAutocommit(Command):
    """Sets whether each statement of the session is a transaction of its own, or returns it.

    Clients of the DB API send it: https://github.com/databricks/databricks-sql-python (TRANSACTIONS.md).

    Attributes:
        value: The new mode; None returns the current one.
    """

    value: bool | None

    def run(self, spark: SparkSession) -> Rows | None:
        """Raise SqlError within a transaction that has statements."""
        if self.value is None:
            return Rows("value STRING", [[str(is_autocommit(spark)).lower()]])
        set_autocommit(spark, self.value)
        return None


def _atomic_block(cursor: TokenCursor) -> RewriteResult:
    """Parse BEGIN ATOMIC … END. Nested blocks are a part of the outer transaction."""
    first = cursor.at
    cursor.need("BEGIN", "ATOMIC")
    cursor.finish()
    return AtomicBlock(without_atomic(cursor.text(first)))


def _begin(cursor: TokenCursor) -> RewriteResult:
    cursor.need("BEGIN")
    cursor.one_of(*TRANSACTION_WORDS)
    cursor.end()
    return BeginTransaction()


def _commit(cursor: TokenCursor) -> RewriteResult:
    _read_end(cursor, "COMMIT")
    return CommitTransaction()


def _rollback(cursor: TokenCursor) -> RewriteResult:
    _read_end(cursor, "ROLLBACK")
    return RollbackTransaction()


def _set_autocommit(cursor: TokenCursor) -> RewriteResult:
    cursor.need("SET", "AUTOCOMMIT")
    value = None
    if cursor.words("="):
        value = cursor.one_of("TRUE", "FALSE") == "TRUE"
    cursor.end()
    return SetAutocommit(value)


def _read_end(cursor: TokenCursor, verb: str) -> None:
    cursor.need(verb)
    cursor.phrase(*TRANSACTION_WORDS)
    cursor.end()


_NOTE = "other sessions see each statement at once; what a killed process wrote is undone by the next session"
CONSTRUCTS = in_area(
    "Transactions",
    Construct(
        name="BEGIN ATOMIC … END",
        example="BEGIN ATOMIC INSERT INTO t VALUES (1); DELETE FROM t WHERE id = 2; END",
        note=f"if a statement fails, RESTORE undoes those before it; {_NOTE}",
        statement=_atomic_block,
        test="tests/sql/test_transactions.py",
    ),
    Construct(
        name="BEGIN TRANSACTION",
        example="BEGIN TRANSACTION",
        note=f"on any compute; without COMMIT it is rolled back when the process ends; {_NOTE}",
        statement=_begin,
        test="tests/sql/test_transactions.py",
    ),
    Construct(name="COMMIT", example="COMMIT", statement=_commit, test="tests/sql/test_transactions.py"),
    Construct(
        name="ROLLBACK",
        example="ROLLBACK TRANSACTION",
        note="RESTORE brings the tables back to the versions before the transaction",
        statement=_rollback,
        test="tests/sql/test_transactions.py",
    ),
    Construct(
        name="SET AUTOCOMMIT",
        example="SET AUTOCOMMIT = FALSE",
        note="without autocommit, COMMIT and ROLLBACK begin the next transaction",
        statement=_set_autocommit,
        trigger=BEGINNING + r"set\s+autocommit\b",
        test="tests/sql/test_transactions.py",
    ),
)
