"""What the JVM prints, passed on to where this process prints, as with a JVM of its own.

The JVM writes to files, since it outlives the terminal of each of its processes.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

__all__ = ["Relay"]

_EVERY = 0.05


class Relay:
    """Follows the files of a JVM; what stood in them before belongs to others and is dropped."""

    def __init__(self, out: Path, err: Path) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Event()
        # As a child would have: what this process's streams are at this moment.
        self._pairs = [(_emptied(out), os.dup(1)), (_emptied(err), os.dup(2))]
        threading.Thread(target=self._follow, name="lakeward-relay", daemon=True).start()

    def drain(self) -> None:
        """Pass on all that the JVM has printed up to now."""
        with self._lock:
            for source, target in self._pairs:
                while data := os.read(source, 65536):
                    with suppress(OSError):
                        os.write(target, data)

    def end(self) -> None:
        """Pass on the rest and stop."""
        self._ended.set()
        with suppress(OSError):
            self.drain()

    def _follow(self) -> None:
        while not self._ended.wait(_EVERY):
            with suppress(OSError):
                self.drain()


def _emptied(file: Path) -> int:
    os.truncate(file, 0)
    return os.open(file, os.O_RDONLY)
