"""One run at a time of a job or pipeline in one target.

The lock is the kernel's (`flock`), so the death of its owner, however it died, releases it; the file says
who holds it and is never removed, since removing it would let two processes lock two files of one name.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.errors import JobError

__all__ = ["sole_run"]


@contextmanager
def sole_run(file: Path, what: str) -> Iterator[None]:
    """Hold the lock `file` while the body runs.

    Raises JobError(RUN_ACTIVE), naming `what` and the process, when a living process holds it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise JobError(
                "RUN_ACTIVE",
                f"{what} is already being run, by process {owner}.",
                next_step="Wait until it has ended, or stop that process.",
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
