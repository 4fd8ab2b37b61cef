"""The server's SQLite file: opening it, and distinguishing a new workspace from a lost one.

A marker next to the file records that a workspace was created here. With the marker, a file that is missing
or empty is an error: a server that started with an empty workspace would hide the loss.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.errors import ConfigurationError

LOCKED_SECONDS = 1.0
_MARKER = "workspace.created"
_MARKER_TEXT = "A workspace exists in this folder: workspace.db holds its jobs, runs and tokens.\n"


def open_database(file: Path, schema: str) -> sqlite3.Connection:
    """Open the file, create it with `schema` in a fresh folder, and check it.

    Raises ConfigurationError: WORKSPACE_DATABASE_MISSING for a file that is gone or empty,
    WORKSPACE_DATABASE_DAMAGED for one that SQLite cannot read, WORKSPACE_DATABASE_LOCKED, and
    WORKSPACE_STATE_UNUSABLE where it cannot be opened.
    """
    marker = file.with_name(_MARKER)
    is_new = not file.exists() or (file.is_file() and file.stat().st_size == 0)
    if is_new and marker.exists():
        what = "is empty" if file.exists() else "is missing"
        raise ConfigurationError(
            "WORKSPACE_DATABASE_MISSING",
            f"{file} {what}: it holds the jobs, runs and tokens of this workspace.",
            next_step=_way_out(file),
        )
    with _translated(file):
        connection = _connected(file)
        if not is_new:
            (table,) = connection.execute(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'documents'"
            ).fetchone()
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if not table or found != "ok":
                raise damaged_file_error(file, "it has no documents" if not table else str(found))
        connection.executescript(schema)
    file.chmod(0o600)
    if not marker.exists():
        marker.write_text(_MARKER_TEXT, encoding="utf-8")
    return connection


def damaged_file_error(file: Path, reason: str) -> ConfigurationError:
    """Return the error for a file that SQLite cannot read."""
    return ConfigurationError(
        "WORKSPACE_DATABASE_DAMAGED", f"{file} is damaged: {reason}.", next_step=_way_out(file)
    )


@contextmanager
def usable_state() -> Iterator[None]:
    """Raise ConfigurationError(WORKSPACE_STATE_UNUSABLE) where a file of the state cannot be used."""
    try:
        yield
    except OSError as error:
        # Of a rename the second is the file itself, the first a temporary one.
        file = error.filename2 or error.filename
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS) or file is None:
            raise  # a message of their own
        raise _unusable(str(file), error.strerror or str(error)) from None


def _connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=LOCKED_SECONDS, check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


@contextmanager
def _translated(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file)) from None
        if "locked" in text:
            raise ConfigurationError(
                "WORKSPACE_DATABASE_LOCKED",
                f"{file} is locked by another program.",
                next_step="Close that program (a database browser, a backup), and start again.",
            ) from None
        raise _unusable(str(file), text) from None
    except sqlite3.DatabaseError as error:
        raise damaged_file_error(file, str(error)) from None


def _unusable(file: str, reason: str) -> ConfigurationError:
    return ConfigurationError(
        "WORKSPACE_STATE_UNUSABLE",
        f"{file} cannot be used: {reason}.",
        next_step="Give yourself the permission to read and write it, or move it aside and start again.",
    )


def _way_out(file: Path) -> str:
    return (
        f"Restore it from a backup, or move the folder {file.parent} aside and start again: the workspace is "
        "empty then, its files, tables and secrets stay."
    )
