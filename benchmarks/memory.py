"""Peak memory of the processes that a benchmark starts, sampled from /proc; nothing where there is none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["peak_memory"]

_INTERVAL = 0.5
_PROC = Path("/proc")


@contextmanager
def peak_memory() -> Iterator[Callable[[], dict[str, float]]]:
    """Samples inside of the block; the figures are megabytes of the JVM and of the largest Python worker."""
    peaks = {"java": 0, "python": 0}
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(_INTERVAL):
            for name, megabytes in _below(os.getpid()):
                for kind, peak in peaks.items():
                    if name.startswith(kind):
                        peaks[kind] = max(peak, megabytes)

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield lambda: {"jvm_mb": peaks["java"], "worker_mb": peaks["python"]}
    finally:
        stop.set()
        thread.join()


def _below(root: int) -> Iterator[tuple[str, int]]:
    """Names and peak megabytes of the processes that descend from `root`."""
    seen = [_status(entry) for entry in _PROC.glob("[0-9]*")]
    wanted = {root}
    for pid, parent, name, megabytes in sorted(filter(None, seen)):
        if parent in wanted:
            wanted.add(pid)
            yield name, megabytes


def _status(entry: Path) -> tuple[int, int, str, int] | None:
    try:
        lines = (entry / "status").read_text().splitlines()
    except OSError:
        return None
    fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    peak = int(fields.get("VmHWM", "0 kB").split()[0])
    return int(entry.name), int(fields["PPid"]), fields["Name"], peak // 1024
