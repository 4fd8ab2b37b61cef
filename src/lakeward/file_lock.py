"""Locks between processes, held on files.

The operating system releases a lock when its process ends, however it ends. Lock files are never deleted:
otherwise two processes could hold locks on two files of the same name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class FileLock:
    """A lock on a file, which is created with its directory on demand.

    By default the lock belongs to the open file: forked children share it, and two locks in one process
    exclude each other. With `per_process` it belongs to the process alone: forked children do not keep it.
    On Windows there are no such locks, and every attempt succeeds.
    """

    def __init__(self, path: Path, *, shared: bool = False, per_process: bool = False) -> None:
        self._path = path
        self._shared = shared
        self._per_process = per_process
        self._descriptor = -1

    def acquire(self, *, wait: bool = True) -> bool:
        """Take the lock; return False if `wait` is false and another holder excludes it. Raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            taken = _lock(descriptor, wait=wait, shared=self._shared, per_process=self._per_process)
        except BaseException:
            os.close(descriptor)
            raise
        if taken:
            self._descriptor = descriptor
        else:
            os.close(descriptor)
        return taken

    def release(self) -> None:
        """Release the lock; a second call has no effect."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def detach(self) -> int:
        """Return the descriptor that holds the lock, for a caller that closes it or leaves it to a child."""
        descriptor, self._descriptor = self._descriptor, -1
        return descriptor

    def write_owner(self, owner: str) -> None:
        """Record who holds the lock, for the message of `owner`."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, owner.encode(), 0)

    def owner(self) -> str:
        """Return what the last holder recorded, empty if unknown."""
        try:
            return self._path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


@contextmanager
def exclusive_lock(path: Path, busy: Callable[[str], Exception]) -> Iterator[None]:
    """Hold the lock `path`, which records this process, within the block.

    Raises `busy(owner)` if another holder has it; `owner` is `process <id>`, or `another process` if unknown.
    """
    lock = FileLock(path)
    if not lock.acquire(wait=False):
        raise busy(lock.owner() or "another process")
    try:
        lock.write_owner(f"process {os.getpid()}")
        yield
    finally:
        lock.release()


def _lock(descriptor: int, *, wait: bool, shared: bool, per_process: bool) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    operation = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    try:
        (fcntl.lockf if per_process else fcntl.flock)(descriptor, operation)
    except (BlockingIOError, PermissionError):  # EAGAIN, or EACCES of POSIX locks
        return False
    return True
