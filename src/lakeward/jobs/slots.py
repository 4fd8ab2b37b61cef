"""How many tasks run at once over all runs of a target, whichever process carries each of them out.

A slot is a locked file: the kernel frees it however its owner ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

__all__ = ["Slot", "Slots"]


class Slot:
    """Room for one task until it is closed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        """Give it back; a second time does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


class Slots:
    """`number` slots in `folder`; whoever says another number sees the first of them all the same."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._number = folder, number

    def take(self) -> Slot | None:
        """Return a free slot, None where all are taken."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for number in range(self._number):
            descriptor = os.open(self._folder / f"{number}.lock", os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
            else:
                return Slot(descriptor)
        return None
