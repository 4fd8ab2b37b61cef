"""Atomic file writes: write to a temporary file in the same directory, then rename or link it into place.

Reads of state files, which end whatever is in their place.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


@contextmanager
def atomic_replace(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it replaces `path` when the block ends.

    Readers of `path` see the old content until then. If the block fails, the temporary file is removed and
    `path` is unchanged.
    """
    temporary = _temporary(path)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def atomic_write(path: Path, content: str | bytes, *, mode: int = 0o666, synced: bool = False) -> None:
    """Replace the content of `path`.

    Args:
        path: The file to write. Its directory must exist.
        content: The new content; text is encoded as UTF-8.
        mode: Permissions of the new file from its first byte on, minus the umask.
        synced: Flush the content to disk before the rename.

    Raises:
        OSError: The file could not be written; the old content is unchanged.
    """
    with atomic_replace(path) as temporary:
        _write_new(temporary, content, mode, synced=synced)


def atomic_create(path: Path, content: str | bytes, *, mode: int = 0o666, synced: bool = False) -> bool:
    """Create `path`, with arguments and errors of `atomic_write`; return False if it exists already.

    Of several processes that create it, one succeeds: a hard link fails if the file exists.
    """
    temporary = _temporary(path)
    try:
        _write_new(temporary, content, mode, synced=synced)
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        with suppress(OSError):
            temporary.unlink()
    return True


def _temporary(path: Path) -> Path:
    # A random name, not the process id: two threads may write the same file. Short: names can be long.
    return path.with_name(f".{os.urandom(8).hex()}.part")


def _write_new(path: Path, content: str | bytes, mode: int, *, synced: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
        if synced:
            stream.flush()
            os.fsync(stream.fileno())


def read_regular(path: Path) -> bytes:
    """Return the content of a file. Raises OSError for a named pipe or a device, which would never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "It is not a regular file", str(path))
        return stream.read()


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; empty for a file that is missing or damaged."""
    try:
        found = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def open_to_append(path: Path, *, mode: int = 0o666) -> int:
    """Return a descriptor that appends to a file, created with `mode` minus the umask.

    Raises OSError for a named pipe or a device: opening a pipe that has no reader would never end.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is not a regular file", str(path))
    return descriptor
