"""Limits on concurrent tasks and runs, across the processes of one target.

Slots and run locks are `FileLock`s, which the kernel releases when their owner ends.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lakeward.errors import JobError
from lakeward.file_lock import FileLock, exclusive_lock

PER_TASK = 512 * 1024 * 1024
"""Estimated memory of a task's Python process in bytes. Spark's memory is that of the shared JVM."""


def max_parallel_tasks(
    *, environ: Mapping[str, str] = os.environ, meminfo: Path = Path("/proc/meminfo")
) -> int:
    """Return how many tasks may run at once: one per core, less if memory is short, or LAKEWARD_TASKS."""
    configured = environ.get("LAKEWARD_TASKS", "")
    if configured.isdecimal() and int(configured) > 0:
        return int(configured)
    return max(1, min(os.cpu_count() or 1, free_memory(meminfo) // PER_TASK))


def free_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the available memory in bytes; half of the installed memory if the system does not report it."""
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


class FileSemaphore:
    """`number` slots in `folder`, shared by all processes that use the folder."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._number = folder, number

    def take(self) -> FileLock | None:
        """Return the lock of a free slot, None if all are taken."""
        for number in range(self._number):
            lock = FileLock(self._folder / f"{number}.lock")
            if lock.acquire(wait=False):
                return lock
        return None


class RunSemaphore:
    """Limits the concurrent tasks of one run: `reserve` before a task starts, `claim` when its process does.

    A run without a running task may always start one. Otherwise a task that waits for another run could hold
    the slot that the other run needs.
    """

    def __init__(self, slots: FileSemaphore) -> None:
        self._slots = slots
        self._reserved: FileLock | None = None
        self._busy = 0

    def reserve(self) -> bool:
        """Return whether one more task may start."""
        if self._reserved is None:
            self._reserved = self._slots.take()
        return self._reserved is not None or self._busy == 0

    def claim(self) -> Callable[[], None]:
        """Take the reserved slot and return the function that releases it."""
        slot, self._reserved = self._reserved, None
        self._busy += 1
        held = True

        def release() -> None:
            nonlocal held
            if held:
                self._busy -= 1
                if slot is not None:
                    slot.release()
            held = False

        return release

    def close(self) -> None:
        """Release a reserved slot that was not claimed."""
        if self._reserved is not None:
            self._reserved.release()
        self._reserved = None


@contextmanager
def run_lock(
    folder: Path,
    key: str,
    what: str,
    *,
    limit: int = 1,
    queue: bool = False,
    on_wait: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """Hold one of the `limit` places for runs of the job `key` while the body runs.

    Args:
        folder: The folder of the lock files.
        key: The key of the job.
        what: The job, for messages.
        limit: `max_concurrent_runs` of the job.
        queue: Wait for a place when all are taken.
        on_wait: Receives one message before the first wait.

    Raises:
        JobError: RUN_ACTIVE when all places are taken and `queue` is False.
    """
    files = [
        folder / (f"{key}.lock" if number == 0 else f"{key}.{number}.lock") for number in range(max(1, limit))
    ]

    def refuse(owner: str) -> JobError:
        return JobError(
            "RUN_ACTIVE",
            f"{what} is already being run, by {owner}.",
            next_step="Wait until it has ended, or stop that process.",
        )

    with ExitStack() as held:
        busy = _lock_one(files, refuse, held)
        if busy is not None:
            if not queue:
                raise busy
            on_wait(f"{busy.message} This run waits for its end.")
        while busy is not None:
            time.sleep(0.5)
            busy = _lock_one(files, refuse, held)
        yield


def _lock_one(files: Iterable[Path], refuse: Callable[[str], JobError], held: ExitStack) -> JobError | None:
    """Lock the first file that is free, until `held` ends; return the error if none is."""
    busy = None
    for file in files:
        try:
            held.enter_context(exclusive_lock(file, refuse))
        except JobError as error:
            busy = error
        else:
            return None
    return busy
