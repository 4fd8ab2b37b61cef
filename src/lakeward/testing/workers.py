"""What one of several pytest processes gets of the machine (pytest-xdist, `-n 4`).

Each has a state folder of its own and its share of memory and processors. Where memory does not suffice
for a JVM each, they take turns, and where a daemon may be used the next one takes over the last one's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lakeward.file_lock import FileLock

MIB = 1024 * 1024
HEAP = 2048
"""The heap that a session has by default, in MiB."""
LEAST = 768
# In addition to its heap: classes, threads and buffers of the JVM, and Spark's Python workers.
OFF_HEAP = 768
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Worker:
    """One of `count` processes; `name` is gw0, gw1 …"""

    name: str
    count: int


@dataclass(frozen=True)
class Budget:
    """How many JVMs fit at the same time, and the MiB of heap and the processors of each."""

    jvms: int
    heap: int
    cores: int

    def conf(self) -> dict[str, str]:
        """Spark's settings for it."""
        return {"spark.driver.memory": f"{self.heap}m", "spark.master": f"local[{self.cores}]"}


def current_worker(environ: Mapping[str, str] = os.environ) -> Worker | None:
    """Return which worker this process is, by pytest-xdist's variables; None where it is the only one."""
    name = environ.get("PYTEST_XDIST_WORKER")
    count = environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    return Worker(name, max(1, int(count))) if name and count.isdigit() else None


def worker_budget(count: int, *, memory: int, cores: int) -> Budget:
    """Return the share of each of `count` workers in `memory` MiB; a fifth stays for everything else.

    >>> worker_budget(4, memory=32_000, cores=8)
    Budget(jvms=4, heap=2048, cores=2)
    >>> worker_budget(8, memory=16_000, cores=8)
    Budget(jvms=8, heap=832, cores=2)
    >>> worker_budget(8, memory=4_000, cores=8)
    Budget(jvms=2, heap=832, cores=4)
    """
    usable = memory * 4 // 5
    jvms = max(1, min(count, usable // (LEAST + OFF_HEAP)))
    heap = max(LEAST, min(HEAP, usable // jvms - OFF_HEAP))
    return Budget(jvms, heap, min(cores, max(2, cores // jvms)))


def machine_memory() -> int:
    """MiB of memory that this machine, or the container around this process, has."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for file in _CGROUPS:
        try:
            found.append(int(Path(file).read_text(encoding="ascii")))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return min(found) // MIB


def acquire_jvm_slot(folder: Path, jvms: int, *, sleep: Callable[[float], None] = time.sleep) -> FileLock:
    """Wait until fewer than `jvms` other processes have a turn; it lasts until the lock is released."""
    while True:
        for number in range(jvms):
            lock = FileLock(folder / f"jvm-{number}", per_process=True)
            if lock.acquire(wait=False):
                return lock
        sleep(0.2)
