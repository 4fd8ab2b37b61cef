"""The server's documents, by kind and id, for all threads of the server.

Write-ahead logging: readers do not wait for writers, and a process that is killed loses no write that was
answered. A write with `retry` is never lost while the server lives: on a full disk or a locked file the
document is kept in memory, is served from there, and is written again with backoff until that succeeds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.errors import ConfigurationError
from lakeward.workspace.state.document_table import DocumentTable, Key, Row, Warn

Document = dict[str, Any]

_PER_MILLISECOND = 100  # documents
_FIRST_RETRY, _LAST_RETRY = 0.2, 5.0  # seconds
_UNWRITABLE = (OSError, ApiError, ConfigurationError)


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
    Operations raise the errors of `DocumentTable`, which also leaves out damaged documents.
    """

    def __init__(
        self, file: Path, *, clock: Callable[[], float] = time.time, warn: Warn = lambda _: None
    ) -> None:
        self._table, self._warn, self._clock = DocumentTable(file, warn), warn, clock
        self._lock = threading.RLock()
        self._last = self._table.last_number()
        self._unwritten: dict[Key, Row] = {}
        self._unread: list[Callable[[], object]] = []
        self._retrying = False
        self._closed = threading.Event()

    def close(self) -> None:
        """Write pending documents, and close the file."""
        self._closed.set()
        with self._lock:
            self._write_unwritten()
            self._table.close()

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
            self._write((kind, str(key)), Row(_text(parent), active, self.number(), body), retry=retry)

    def get(self, kind: str, key: object) -> Document | None:
        """Return the document, None if it does not exist."""
        with self._lock:
            row = self._row((kind, str(key)))
        return None if row is None else row.body

    def is_damaged(self, kind: str, key: object) -> bool:
        """Return whether a document exists that cannot be read."""
        self.get(kind, key)
        return self._table.is_damaged((kind, str(key)))

    def exclude(self, kind: str, key: object, reason: str) -> None:
        """Treat a document as damaged from now on, for a reason that its fields alone do not show."""
        self._table.exclude((kind, str(key)), reason)

    def delete(self, kind: str, key: object) -> bool:
        """Delete a document, damaged or not; returns False if it does not exist."""
        with self._lock:
            found = self._table.delete((kind, str(key)))
            return self._unwritten.pop((kind, str(key)), None) is not None or found

    def delete_children(self, kind: str, parent: object) -> None:
        """Delete all documents of a kind below one."""
        with self._lock:
            self._table.delete_children(kind, str(parent))
            for key, row in self._unwritten.copy().items():
                if key[0] == kind and row.parent == str(parent):
                    del self._unwritten[key]

    def delete_older(self, kind: str, before: int) -> list[str]:
        """Delete what is not active and was made before a time in milliseconds; returns the ids."""
        with self._lock:
            return self._table.delete_inactive(kind, before * _PER_MILLISECOND)

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
        owner = _text(parent)
        with self._lock:
            unwritten = {key: row for (of, key), row in self._unwritten.items() if of == kind}
            if not unwritten:
                rows = self._table.rows(
                    kind, parent=owner, active=active, newest_first=newest_first, limit=limit, offset=offset
                )
                return [row.body for row in rows.values()]
            found = [
                row
                for row in (self._table.rows(kind) | unwritten).values()
                if owner in (None, row.parent) and active in (None, row.active)
            ]
        found.sort(key=lambda row: row.number, reverse=newest_first)
        return [_copy(row.body) for row in found[offset:][: limit if limit >= 0 else None]]

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
                row = self._row((kind, str(key)))
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

    def _row(self, key: Key) -> Row | None:
        unwritten = self._unwritten.get(key)
        if unwritten is None:
            return self._table.row(key)
        # A copy: an edit that fails leaves what is to be written as it is.
        return replace(unwritten, body=_copy(unwritten.body))

    def _write(self, key: Key, row: Row, *, retry: bool) -> None:
        unwritten = self._unwritten.get(key)
        if unwritten is not None:
            row = replace(row, number=unwritten.number)
        try:
            self._table.write(key, row)
        except _UNWRITABLE as error:
            if not retry:
                raise
            self._unwritten[key] = replace(row, body=_copy(row.body))
            self._start_retrying(error)
        else:
            self._unwritten.pop(key, None)

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
                self._table.write(key, row)
            except _UNWRITABLE:
                return
            del self._unwritten[key]
        while self._unread:
            try:
                self._unread[0]()
            except _UNWRITABLE:
                return
            del self._unread[0]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _copy(body: Document) -> Document:
    copy: Document = orjson.loads(orjson.dumps(body))
    return copy
