"""How many tasks may run beside each other: as many as there are cores, and memory, for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PER_TASK", "free_memory", "limit"]

PER_TASK = 512 * 1024 * 1024
"""What a task's Python process is taken to need; Spark's memory is the JVM's, which all of them share."""


def limit(*, environ: Mapping[str, str] = os.environ, meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return how many tasks may run at once; LAKEWARD_TASKS says otherwise."""
    asked = environ.get("LAKEWARD_TASKS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return max(1, min(os.cpu_count() or 1, free_memory(meminfo) // PER_TASK))


def free_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the bytes of memory that processes may still take; half of all of it where nobody counts."""
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
