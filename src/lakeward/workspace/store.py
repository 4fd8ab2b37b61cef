"""What the server knows, in one SQLite file: documents by kind and id.

Write-ahead logging: a reader never waits, and a process that is killed loses nothing that was answered.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

__all__ = ["Document", "Store"]

Document = dict[str, Any]

_PER_MILLISECOND = 100  # documents

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT, active INTEGER NOT NULL, number INTEGER NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_number ON documents (kind, number);
CREATE INDEX IF NOT EXISTS by_parent ON documents (kind, parent, number);
CREATE INDEX IF NOT EXISTS by_activity ON documents (kind, active, number);
"""


class Store:
    """Documents of several kinds; each has an id, may have a parent, and is active or not.

    `number` orders them by their making. One connection and a lock: a request takes microseconds here.
    """

    def __init__(self, file: Path, *, clock: Callable[[], float] = time.time) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(_SCHEMA)
        file.chmod(0o600)
        self._lock = threading.RLock()
        self._clock = clock
        (last,) = self._connection.execute("SELECT max(number) FROM documents").fetchone()
        self._last = int(last or 0)

    def close(self) -> None:
        """Give the file free."""
        with self._lock:
            self._connection.close()

    def number(self) -> int:
        """A number that nothing else has or had; later ones are larger, and JavaScript can hold them."""
        with self._lock:
            self._last = max(self._last + 1, int(self._clock() * 1000) * _PER_MILLISECOND)
            return self._last

    def put(
        self, kind: str, key: object, body: Document, *, parent: object = None, active: bool = False
    ) -> None:
        """Keep a document; one of the same kind and id is replaced and keeps its place in the order."""
        with self._lock:
            self._connection.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE "
                "SET parent = excluded.parent, active = excluded.active, body = excluded.body",
                (
                    kind,
                    str(key),
                    None if parent is None else str(parent),
                    active,
                    self.number(),
                    orjson.dumps(body),
                ),
            )

    def get(self, kind: str, key: object) -> Document | None:
        """The document, None where there is none."""
        with self._lock:
            row = self._connection.execute(
                "SELECT body FROM documents WHERE kind = ? AND id = ?", (kind, str(key))
            ).fetchone()
        return None if row is None else orjson.loads(row[0])

    def delete(self, kind: str, key: object) -> bool:
        """Forget a document; False where there was none."""
        with self._lock:
            cursor = self._connection.execute(
                "DELETE FROM documents WHERE kind = ? AND id = ?", (kind, str(key))
            )
            return cursor.rowcount > 0

    def delete_children(self, kind: str, parent: object) -> None:
        """Forget all documents of a kind below one."""
        with self._lock:
            self._connection.execute(
                "DELETE FROM documents WHERE kind = ? AND parent = ?", (kind, str(parent))
            )

    def delete_older(self, kind: str, before: int) -> list[str]:
        """Forget what is not active and was made before a time in milliseconds; gives the ids."""
        which = "FROM documents WHERE kind = ? AND active = 0 AND number < ?"
        values = (kind, before * _PER_MILLISECOND)
        with self._lock:
            gone = [key for (key,) in self._connection.execute(f"SELECT id {which}", values)]
            self._connection.execute(f"DELETE {which}", values)
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
        """The documents of a kind in the order of their making."""
        where, values = ["kind = ?"], [kind]
        if parent is not None:
            where.append("parent = ?")
            values.append(str(parent))
        if active is not None:
            where.append(f"active = {int(active)}")
        order = "DESC" if newest_first else "ASC"
        query = f"SELECT body FROM documents WHERE {' AND '.join(where)} ORDER BY number {order}"  # noqa: S608  # of constants
        with self._lock:
            rows = self._connection.execute(f"{query} LIMIT ? OFFSET ?", (*values, limit, offset)).fetchall()
        return [orjson.loads(body) for (body,) in rows]

    def change(
        self, kind: str, key: object, edit: Callable[[Document], None], *, active: bool | None = None
    ) -> Document | None:
        """Edit a document in place, alone; None where there is none."""
        with self._lock:
            row = self._connection.execute(
                "SELECT parent, active, body FROM documents WHERE kind = ? AND id = ?", (kind, str(key))
            ).fetchone()
            if row is None:
                return None
            body: Document = orjson.loads(row[2])
            edit(body)
            self._connection.execute(
                "UPDATE documents SET active = ?, body = ? WHERE kind = ? AND id = ?",
                (row[1] if active is None else active, orjson.dumps(body), kind, str(key)),
            )
            return body
