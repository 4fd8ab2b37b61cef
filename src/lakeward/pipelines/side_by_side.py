"""Several datasets at a time, in one thread: while one waits for its stream, the next ones begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from lakeward.pipelines.waiting import Waiting, ended

__all__ = ["Steps", "side_by_side"]

T = TypeVar("T")
_BETWEEN_SEVERAL = 0.05


class Steps:
    """Work that was begun, up to the query that it waits for."""

    def __init__(self, work: Waiting[None]) -> None:
        self._work = work
        self.query: Any = None
        self.done = False

    def go_on(self) -> None:
        """Carry on to the next wait, or to the end. What the work raises goes through."""
        self.done = True
        try:
            self.query = next(self._work)
        except StopIteration:
            return
        self.done = False

    def close(self) -> None:
        """Give up; a query that it waits for is stopped."""
        self._work.close()


def side_by_side(
    work: Iterable[T],
    *,
    begin: Callable[[T], Steps],
    can_begin: Callable[[T], bool],
    go_on: Callable[[Steps], None],
    most: int,
) -> None:
    """Do all of `work` in its order, `most` of it at once, each as soon as it can begin.

    What interrupts it stops the queries that still run, and goes through.
    """
    left, running = list(work), list[Steps]()
    try:
        while left or running:
            ready = [each for each in left if can_begin(each)] or (left if not running else [])
            if ready and len(running) < most:
                left.remove(ready[0])
                running.append(begin(ready[0]))
            else:
                for steps in running:
                    if ended(steps.query, _BETWEEN_SEVERAL):
                        go_on(steps)
            running = [steps for steps in running if not steps.done]
    finally:
        for steps in running:
            steps.close()
