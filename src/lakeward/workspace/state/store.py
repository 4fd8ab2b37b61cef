"""The server's documents, by kind and id, in one SQLite file.

Write-ahead logging: readers do not wait for writers, and a process that is killed loses no write that was
answered. A write with `retry` is never lost while the server lives: on a full disk or a locked file the
document is kept in memory, is served from there, and is written again with backoff until that succeeds.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.errors import ConfigurationError
from lakeward.workspace.state.database import damaged, open_database

Document = dict[str, Any]
Warn = Callable[[str], None]

_PER_MILLISECOND = 100  # documents
_FIRST_RETRY, _LAST_RETRY = 0.2, 5.0  # seconds

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT, active INTEGER NOT NULL, number INTEGER NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_number ON documents (kind, number);
CREATE INDEX IF NOT EXISTS by_parent ON documents (kind, parent, number);
CREATE INDEX IF NOT EXISTS by_activity ON documents (kind, active, number);
"""

# Without these fields a document cannot be served.
_REQUIRED: Mapping[str, Mapping[str, type]] = {
    "job": {"job_id": int, "settings": dict, "creator_user_name": str, "run_as_user_name": str},
    "run": {"run_id": int, "job_id": int, "settings": dict, "state": dict, "tasks": list, "run_name": str},
    "pipeline": {"pipeline_id": str, "spec": dict},
    "update": {"update_id": str, "pipeline_id": str, "state": str},
    "token": {"token_id": str, "digest": str, "user": str, "expiry_time": int},
    "acl": {"entries": list},
    "statement": {"statement_id": str, "status": dict},
}


_UNWRITABLE = (OSError, ApiError, ConfigurationError)


@dataclass(frozen=True)
class _Row:
    """A document as its row is, or will be."""

    parent: str | None
    active: bool
    number: int
    body: Document


def now() -> int:
    """Return the milliseconds since 1970, the unit of all times of the API."""
    return int(time.time() * 1000)


def time_text(milliseconds: int) -> str:
    """Return a time in ISO 8601 with milliseconds, for the fields of the API that have times as text.

    >>> time_text(1_700_000_000_000)
    '2023-11-14T22:13:20.000Z'
    """
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Store:
    """Documents of several kinds; each has an id, may have a parent, and is active or not.

    `number` orders them by their creation. One connection and a lock: an operation takes microseconds.
    Operations raise OSError on a full disk, ApiError(503) where another program has locked the file, and
    ConfigurationError(WORKSPACE_DATABASE_DAMAGED).
    A damaged document is named to `warn`, once, and left out of all answers.
    """

    def __init__(
        self, file: Path, *, clock: Callable[[], float] = time.time, warn: Warn = lambda _: None
    ) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file, self._warn = file, warn
        self._connection = open_database(file, _SCHEMA)
        self._lock = threading.RLock()
        self._clock = clock
        (last,) = self._connection.execute("SELECT max(number) FROM documents").fetchone()
        self._last = int(last or 0)
        self._damaged: set[tuple[str, str]] = set()
        self._unwritten: dict[tuple[str, str], _Row] = {}
        self._unread: list[Callable[[], object]] = []
        self._retrying = False
        self._closed = threading.Event()

    def close(self) -> None:
        """Write pending documents, and close the file."""
        self._closed.set()
        with self._lock:
            self._write_unwritten()
            self._connection.close()

    def number(self) -> int:
        """Return a number that was never used; later ones are larger, and JavaScript can represent them."""
        with self._lock:
            self._last = max(self._last + 1, int(self._clock() * 1000) * _PER_MILLISECOND)
            return self._last

    def put(
        self,
        kind: str,
        key: object,
        body: Document,
        *,
        parent: object = None,
        active: bool = False,
        retry: bool = False,
    ) -> None:
        """Keep a document; one of the same kind and id is replaced and keeps its place in the order."""
        with self._lock:
            number = self.number()
            owner = None if parent is None else str(parent)
            self._write((kind, str(key)), _Row(owner, active, number, body), retry=retry)

    def get(self, kind: str, key: object) -> Document | None:
        """Return the document, None if it does not exist."""
        with self._lock:
            row = self._row(kind, str(key))
        return None if row is None else row.body

    def is_damaged(self, kind: str, key: object) -> bool:
        """Return whether a document exists that cannot be read."""
        self.get(kind, key)
        return (kind, str(key)) in self._damaged

    def exclude(self, kind: str, key: object, reason: str) -> None:
        """Treat a document as damaged from now on, for a reason that its fields alone do not show."""
        if (kind, str(key)) not in self._damaged:
            self._damaged.add((kind, str(key)))
            self._warn(
                f"The {kind} {key} in {self._file} is damaged and is left out: {reason.rstrip('.')}. "
                "Delete it, or restore the file from a backup."
            )

    def delete(self, kind: str, key: object) -> bool:
        """Delete a document, damaged or not; returns False if it does not exist."""
        with self._lock:
            unwritten = (kind, str(key)) in self._unwritten
            cursor = self._execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, str(key)))
            self._unwritten.pop((kind, str(key)), None)
            self._damaged.discard((kind, str(key)))
            return unwritten or cursor.rowcount > 0

    def delete_children(self, kind: str, parent: object) -> None:
        """Delete all documents of a kind below one."""
        with self._lock:
            self._execute("DELETE FROM documents WHERE kind = ? AND parent = ?", (kind, str(parent)))
            for key, row in self._unwritten.copy().items():
                if key[0] == kind and row.parent == str(parent):
                    del self._unwritten[key]

    def delete_older(self, kind: str, before: int) -> list[str]:
        """Delete what is not active and was made before a time in milliseconds; returns the ids."""
        which = "FROM documents WHERE kind = ? AND active = 0 AND number < ?"
        values = (kind, before * _PER_MILLISECOND)
        with self._lock:
            gone = [key for (key,) in self._execute(f"SELECT id {which}", values)]
            self._execute(f"DELETE {which}", values)
        return gone

    def find(
        self,
        kind: str,
        *,
        parent: object = None,
        active: bool | None = None,
        newest_first: bool = False,
        limit: int = -1,
        offset: int = 0,
    ) -> list[Document]:
        """Return the documents of a kind in the order of their creation."""
        where, values = ["kind = ?"], [kind]
        if parent is not None:
            where.append("parent = ?")
            values.append(str(parent))
        if active is not None:
            where.append(f"active = {int(active)}")
        order = "DESC" if newest_first else "ASC"
        query = f"SELECT id, body FROM documents WHERE {' AND '.join(where)} ORDER BY number {order}"  # noqa: S608  # of constants
        with self._lock:
            if any(key[0] == kind for key in self._unwritten):
                return self._find_with_unwritten(kind, parent, active, newest_first)[offset:][
                    : limit if limit >= 0 else None
                ]
            rows = self._execute(f"{query} LIMIT ? OFFSET ?", (*values, limit, offset)).fetchall()
        found = (self._read(kind, key, body) for key, body in rows)
        return [body for body in found if body is not None]

    def change(
        self,
        kind: str,
        key: object,
        edit: Callable[[Document], None],
        *,
        active: bool | Callable[[Document], bool] | None = None,
        retry: bool = False,
    ) -> Document | None:
        """Edit a document in place; returns it, or None if it does not exist. Edits are serialized.

        `active` is the new activity; a function computes it from the edited document, None leaves it. With
        `retry` None is also returned where the document cannot be read now: the edit is made later.
        """
        with self._lock:
            try:
                row = self._row(kind, str(key))
            except _UNWRITABLE as error:
                if not retry:
                    raise
                self._unread.append(lambda: self.change(kind, key, edit, active=active))
                self._start_retrying(error)
                return None
            if row is None:
                return None
            edit(row.body)
            if active is not None:
                row = replace(row, active=active(row.body) if callable(active) else active)
            self._write((kind, str(key)), row, retry=retry)
            return row.body

    def _row(self, kind: str, key: str) -> _Row | None:
        unwritten = self._unwritten.get((kind, key))
        if unwritten is not None:
            # A copy: an edit that fails leaves what is to be written as it is.
            return replace(unwritten, body=orjson.loads(orjson.dumps(unwritten.body)))
        columns = "parent, active, number, body"
        row = self._execute(
            f"SELECT {columns} FROM documents WHERE kind = ? AND id = ?",  # noqa: S608  # of constants
            (kind, key),
        ).fetchone()
        body = None if row is None else self._read(kind, key, row[3])
        return None if body is None else _Row(row[0], bool(row[1]), row[2], body)

    def _read(self, kind: str, key: str, data: bytes) -> Document | None:
        """Return the document of a row, None for a damaged one."""
        if (kind, key) in self._damaged:
            return None
        try:
            body = orjson.loads(data)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self.exclude(kind, key, "it is not a JSON object")
            return None
        wrong = [name for name, of in _REQUIRED.get(kind, {}).items() if not isinstance(body.get(name), of)]
        if wrong:
            self.exclude(kind, key, f"it has no {wrong[0]}, or one of another type")
            return None
        return body

    def _find_with_unwritten(
        self, kind: str, parent: object, active: bool | None, newest_first: bool
    ) -> list[Document]:
        query = "SELECT id, parent, active, number, body FROM documents WHERE kind = ?"
        rows: dict[str, _Row] = {}
        for key, owner, is_active, number, data in self._execute(query, (kind,)).fetchall():
            body = self._read(kind, key, data)
            if body is not None:
                rows[key] = _Row(owner, bool(is_active), number, body)
        rows |= {key: row for (of, key), row in self._unwritten.items() if of == kind}
        found = [
            row
            for row in sorted(rows.values(), key=lambda row: row.number, reverse=newest_first)
            if (parent is None or row.parent == str(parent)) and (active is None or row.active == active)
        ]
        return [orjson.loads(orjson.dumps(row.body)) for row in found]

    def _write(self, key: tuple[str, str], row: _Row, *, retry: bool) -> None:
        unwritten = self._unwritten.get(key)
        if unwritten is not None:
            row = replace(row, number=unwritten.number)
        try:
            self._insert(key, row)
        except _UNWRITABLE as error:
            if not retry:
                raise
            self._unwritten[key] = replace(row, body=orjson.loads(orjson.dumps(row.body)))
            self._start_retrying(error)
        else:
            self._unwritten.pop(key, None)
            self._damaged.discard(key)

    def _insert(self, key: tuple[str, str], row: _Row) -> None:
        self._execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE "
            "SET parent = excluded.parent, active = excluded.active, body = excluded.body",
            (*key, row.parent, row.active, row.number, orjson.dumps(row.body)),
        )

    def _start_retrying(self, error: Exception) -> None:
        if not self._retrying:
            self._retrying = True
            self._warn(f"{error}. Changes are kept in memory and written as soon as that is possible.")
            threading.Thread(target=self._retry, name="store", daemon=True).start()

    def _retry(self) -> None:
        pause = _FIRST_RETRY
        while not self._closed.wait(pause):
            with self._lock:
                if self._closed.is_set():
                    return
                self._write_unwritten()
                if not self._unwritten and not self._unread:
                    self._retrying = False
                    return
            pause = min(2 * pause, _LAST_RETRY)

    def _write_unwritten(self) -> None:
        for key, row in self._unwritten.copy().items():
            try:
                self._insert(key, row)
            except _UNWRITABLE:
                return
            del self._unwritten[key]
        while self._unread:
            try:
                self._unread[0]()
            except _UNWRITABLE:
                return
            del self._unread[0]

    def _execute(self, query: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise _storage_error(error, self._file) from None


def _storage_error(error: sqlite3.Error, file: Path) -> Exception:
    """Return the error as requests answer it: a full disk as an OSError (507), a locked file as 503."""
    text = str(error)
    if "full" in text:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
    if "locked" in text or "busy" in text:
        message = f"{file} is locked by another program. Close that program, and try again."
        return ApiError(503, "TEMPORARILY_UNAVAILABLE", message)
    if isinstance(error, sqlite3.OperationalError):
        return OSError(errno.EIO, text, str(file))
    return damaged(file, text)
