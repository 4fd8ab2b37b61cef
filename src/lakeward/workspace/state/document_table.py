"""The table of the server's documents in SQLite: its rows, their validation, and the errors of the file."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.state.database import damaged_file_error, open_database

Key = tuple[str, str]
"""Kind and id of a document."""
Warn = Callable[[str], None]

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


@dataclass(frozen=True)
class Row:
    """A document as its row is, or will be. `number` orders documents by their creation."""

    parent: str | None
    active: bool
    number: int
    body: dict[str, Any]


class DocumentTable:
    """The documents in the file. Calls have to be serialized.

    All methods raise OSError on a full disk, ApiError(503) where another program has locked the file, and
    ConfigurationError(WORKSPACE_DATABASE_DAMAGED).
    A damaged document is named to `warn`, once, and left out of all answers.
    """

    def __init__(self, file: Path, warn: Warn) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file, self._warn = file, warn
        self._connection = open_database(file, _SCHEMA)
        self._damaged: set[Key] = set()

    def close(self) -> None:
        self._connection.close()

    def last_number(self) -> int:
        """Return the highest number, 0 in an empty table."""
        (last,) = self._execute("SELECT max(number) FROM documents", ()).fetchone()
        return int(last or 0)

    def row(self, key: Key) -> Row | None:
        """Return the row of a document, None if it does not exist or is damaged."""
        columns = "parent, active, number, body"
        query = f"SELECT {columns} FROM documents WHERE kind = ? AND id = ?"  # noqa: S608  # of constants
        found = self._execute(query, key).fetchone()
        return None if found is None else self._read(key, *found)

    def rows(
        self,
        kind: str,
        *,
        parent: str | None = None,
        active: bool | None = None,
        newest_first: bool = False,
        limit: int = -1,
        offset: int = 0,
    ) -> dict[str, Row]:
        """Return the documents of a kind by id, in the order of their creation."""
        where, values = ["kind = ?"], [kind]
        if parent is not None:
            where.append("parent = ?")
            values.append(parent)
        if active is not None:
            where.append(f"active = {int(active)}")
        order = "DESC" if newest_first else "ASC"
        query = (
            "SELECT id, parent, active, number, body FROM documents "  # noqa: S608  # of constants
            f"WHERE {' AND '.join(where)} ORDER BY number {order} LIMIT ? OFFSET ?"
        )
        found = {
            key: self._read((kind, key), *columns)
            for key, *columns in self._execute(query, (*values, limit, offset)).fetchall()
        }
        return {key: row for key, row in found.items() if row is not None}

    def write(self, key: Key, row: Row) -> None:
        """Insert a document, or replace one, which keeps its number."""
        self._execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE "
            "SET parent = excluded.parent, active = excluded.active, body = excluded.body",
            (*key, row.parent, row.active, row.number, orjson.dumps(row.body)),
        )
        self._damaged.discard(key)

    def delete(self, key: Key) -> bool:
        """Delete a document, damaged or not; return False if it does not exist."""
        cursor = self._execute("DELETE FROM documents WHERE kind = ? AND id = ?", key)
        self._damaged.discard(key)
        return cursor.rowcount > 0

    def delete_children(self, kind: str, parent: str) -> None:
        """Delete all documents of a kind below one."""
        self._execute("DELETE FROM documents WHERE kind = ? AND parent = ?", (kind, parent))

    def delete_inactive(self, kind: str, before: int) -> list[str]:
        """Delete documents that are not active and have a lower number; return their ids."""
        which = "FROM documents WHERE kind = ? AND active = 0 AND number < ?"
        gone = [key for (key,) in self._execute(f"SELECT id {which}", (kind, before))]
        self._execute(f"DELETE {which}", (kind, before))
        return gone

    def is_damaged(self, key: Key) -> bool:
        """Return whether a document that was read or excluded is damaged."""
        return key in self._damaged

    def exclude(self, key: Key, reason: str) -> None:
        """Treat a document as damaged from now on."""
        if key not in self._damaged:
            self._damaged.add(key)
            kind, name = key
            self._warn(
                f"The {kind} {name} in {self._file} is damaged and is left out: {reason.rstrip('.')}. "
                "Delete it, or restore the file from a backup."
            )

    def _read(self, key: Key, parent: str | None, active: int, number: int, data: bytes) -> Row | None:
        """Return a row with its document, None for a damaged one."""
        if key in self._damaged:
            return None
        try:
            body = orjson.loads(data)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self.exclude(key, "it is not a JSON object")
            return None
        required = _REQUIRED.get(key[0], {})
        wrong = [name for name, of in required.items() if not isinstance(body.get(name), of)]
        if wrong:
            self.exclude(key, f"it has no {wrong[0]}, or one of another type")
            return None
        return Row(parent, bool(active), number, body)

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
    return damaged_file_error(file, text)
