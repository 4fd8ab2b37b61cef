"""The transactions of SQL sessions: their beginning, their end, and recovery after a process that was killed.

The JVM knows which tables the statements of a transaction write (Transactions.java) and keeps a record of
them in a file. To roll back, RESTORE brings these tables back to their versions before the transaction. A
session that finds the record of a process that is gone does the same.
"""

from __future__ import annotations

import atexit
import json
import logging
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.file_lock import FileLock
from lakeward.quoting import quote_name
from lakeward.session import current_settings, message_of
from lakeward.spark_internals import JavaObject, java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOLDER = "transactions"
_log = logging.getLogger(__name__)


class _Transaction:
    """The transaction of a session; other processes see by the lock that its record has an owner.

    Attributes:
        is_implicit: Whether the session is not in autocommit mode: its end begins the next one.
    """

    def __init__(self, spark: SparkSession, *, is_implicit: bool) -> None:
        folder = _folder()
        self._spark = spark
        self.is_implicit = is_implicit
        self.record = folder / f"{uuid.uuid4()}.json"
        self._lock = FileLock(folder / "lock", shared=True)
        self._lock.acquire()

    def end(self) -> None:
        self.record.unlink(missing_ok=True)
        self._lock.release()

    def roll_back(self) -> None:
        """Restore the tables; if that fails, the record remains, and a later session does it."""
        try:
            shared = _restore(self._spark, _java(self._spark).endForRollback(java_session(self._spark)))
            self.record.unlink(missing_ok=True)
        finally:
            self._lock.release()
        _require_no_other_writer(shared)


def begin(spark: SparkSession, *, is_interactive: bool, is_implicit: bool = False) -> bool:
    """Begin the transaction of a session; return False if it has one.

    Args:
        spark: The session.
        is_interactive: Whether statements of their own follow, and not those of a block.
        is_implicit: Whether the end of the transaction begins the next one.
    """
    transaction = _Transaction(spark, is_implicit=is_implicit)
    session = java_session(spark)
    if not _java(spark).begin(session, is_interactive, str(transaction.record)):
        transaction.end()
        return False
    _open_transactions()[session.sessionUUID()] = transaction
    return True


def has_transaction(spark: SparkSession) -> bool:
    """Return whether the session has a transaction."""
    return java_session(spark).sessionUUID() in _open_transactions()


def commit(spark: SparkSession) -> bool:
    """End the transaction of a session; return False if it has none."""
    transaction = _take(spark)
    if transaction is None:
        return False
    # Without its record, no session rolls it back.
    transaction.end()
    _java(spark).end(java_session(spark))
    _begin_next(spark, transaction)
    return True


def roll_back(spark: SparkSession) -> None:
    """End the session's transaction, if it has one, and restore the tables that it has written.

    A table that another writer has changed, too, is left as it is.

    Raises:
        SqlError: TRANSACTION_ROLLBACK_CONFLICT: there is such a table.
    """
    transaction = _take(spark)
    if transaction is None:
        return
    try:
        transaction.roll_back()
    finally:
        _begin_next(spark, transaction)


def end_session(spark: SparkSession) -> None:
    """Roll back the transaction of a session that has ended."""
    transaction = _take(spark)
    if transaction is not None:
        transaction.roll_back()


def is_autocommit(spark: SparkSession) -> bool:
    """Return whether each statement of the session is a transaction, unless BEGIN TRANSACTION begins one."""
    transaction = _open_transactions().get(java_session(spark).sessionUUID())
    return transaction is None or not transaction.is_implicit


def set_autocommit(spark: SparkSession, value: bool) -> None:
    """Set whether each statement is a transaction. Without, COMMIT and ROLLBACK begin the next one.

    Raises:
        SqlError: AUTOCOMMIT_SET_DURING_ACTIVE_TRANSACTION: the session's transaction has statements.
    """
    if _java(spark).isUsed(java_session(spark)):
        raise SqlError(
            "AUTOCOMMIT_SET_DURING_ACTIVE_TRANSACTION",
            "The autocommit mode cannot change within a transaction.",
            sql_state="25000",
            next_step="Run COMMIT or ROLLBACK first.",
        )
    end_session(spark)
    if not value:
        begin(spark, is_interactive=True, is_implicit=True)


def _take(spark: SparkSession) -> _Transaction | None:
    transactions = _open_transactions()
    return transactions.pop(java_session(spark).sessionUUID(), None) if transactions else None


def _begin_next(spark: SparkSession, ended: _Transaction) -> None:
    if ended.is_implicit:
        begin(spark, is_interactive=True, is_implicit=True)


def recover(spark: SparkSession) -> None:
    """Roll back the transactions of processes that were killed.

    While another process has a transaction, that is left to a later session; what cannot be restored, too.
    """
    records = sorted(_folder().glob("*.json"))
    lock = FileLock(_folder() / "lock")
    if not records or not lock.acquire(wait=False):
        return
    try:
        for record in records:
            _log.warning("A process ended within a transaction: its changes are rolled back.")
            try:
                shared = _restore(spark, _java(spark).written(java_session(spark), record.read_text()))
                record.unlink()
                _require_no_other_writer(shared)
            except SqlError as error:
                _log.warning("%s", error)
            except Exception as error:  # noqa: BLE001  # one table that is lost must not stop the session
                _log.warning(
                    "They could not be: %s Each session tries again; to keep the tables so, delete %s",
                    message_of(error),
                    record,
                )
    finally:
        lock.release()


def _restore(spark: SparkSession, written: str) -> list[str]:
    """Restore the tables that a transaction has written, but for those of other writers, which it returns."""
    shared = []
    for table in json.loads(written):
        if table["shared"]:
            shared.append(f"{table['path']} (version {table['version']})")
        elif table["changed"]:
            path = quote_name([table["path"]])
            spark.sql(f"RESTORE TABLE delta.{path} TO VERSION AS OF {table['version']}")
    return shared


def _require_no_other_writer(shared: list[str]) -> None:
    if shared:
        raise SqlError(
            "TRANSACTION_ROLLBACK_CONFLICT",
            "The transaction was rolled back, and another writer changed tables that it had written: "
            f"{', '.join(shared)}. They keep the changes of both.",
            sql_state="40000",
            next_step="DESCRIBE HISTORY shows the commits; RESTORE TABLE … TO VERSION AS OF undoes them.",
        )


def _folder() -> Path:
    settings = current_settings()
    assert settings is not None
    return settings.state / _FOLDER


def _java(spark: SparkSession) -> JavaObject:
    return jvm_view(spark).lakeward.Transactions


@cache
def _open_transactions() -> dict[str, _Transaction]:
    """Return the transactions of this process by their sessions; at its end they are rolled back."""
    transactions: dict[str, _Transaction] = {}

    def end() -> None:
        for transaction in transactions.values():
            # A session that was stopped cannot restore tables any more: the next one does.
            with suppress(Exception):
                transaction.roll_back()

    atexit.register(end)
    return transactions
