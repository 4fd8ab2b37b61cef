"""Room for the tasks of one run beside those of all others: its own share, and never less than one."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.jobs.slots import Slot, Slots

__all__ = ["Room"]


class Room:
    """What a run asks before it starts a process: `reserve`, then `claim` for the process itself.

    A run of which nothing goes on may always start one task: a task that waits for another run cannot be what
    keeps that one from beginning.
    """

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._reserved: Slot | None = None
        self._busy = 0

    def reserve(self) -> bool:
        """Whether there is room for one more task."""
        if self._reserved is None:
            self._reserved = self._slots.take()
        return self._reserved is not None or self._busy == 0

    def claim(self) -> Callable[[], None]:
        """Take what was reserved; what is returned gives it back."""
        slot, self._reserved = self._reserved, None
        self._busy += 1
        held = True

        def release() -> None:
            nonlocal held
            if held:
                self._busy -= 1
                if slot is not None:
                    slot.close()
            held = False

        return release

    def close(self) -> None:
        """Give back what was reserved and never claimed."""
        if self._reserved is not None:
            self._reserved.close()
        self._reserved = None
