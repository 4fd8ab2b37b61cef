"""So many runs at a time of a job in one target, and no more.

The lock is the kernel's (`flock`), so the death of its owner, however it died, releases it; the file says
who holds it and is never removed, since removing it would let two processes lock two files of one name.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lakeward.errors import JobError

__all__ = ["a_run", "sole_run"]


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


@contextmanager
def a_run(
    folder: Path,
    key: str,
    what: str,
    *,
    most: int = 1,
    queue: bool = False,
    waiting: Callable[[str], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Hold one of the `most` places for runs of the job `key` while the body runs.

    When all are taken, a run that may `queue` waits for one, and `waiting` hears of it once; another gets the
    JobError of `sole_run`.
    """
    files = [
        folder / (f"{key}.lock" if number == 0 else f"{key}.{number}.lock") for number in range(max(1, most))
    ]
    told = False
    with ExitStack() as held:
        while True:
            for file in files:
                try:
                    held.enter_context(sole_run(file, what))
                except JobError as error:
                    busy = error
                else:
                    yield
                    return
            if not queue:
                raise busy
            if not told:
                waiting(f"{busy.message} This run waits for its end.")
                told = True
            sleep(0.5)
