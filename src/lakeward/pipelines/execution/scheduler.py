"""Runs tasks concurrently in one thread: while one awaits its query or another dataset, others run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from lakeward.pipelines.storage.streaming_query_task import QueryTask, is_terminated

T = TypeVar("T")
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class AwaitedInput:
    """Yielded by a task that needs another dataset first; `is_done` reports whether that one has finished."""

    is_done: Callable[[], bool]


class DatasetTask:
    """A started task, suspended at the streaming query or the input that it awaits."""

    def __init__(self, work: QueryTask[None], key: Any = None) -> None:
        self._work, self.key = work, key
        self.awaited: Any = None
        self.done = False

    @property
    def awaits_input(self) -> bool:
        return isinstance(self.awaited, AwaitedInput)

    def can_resume(self) -> bool:
        """Return whether the awaited query or input has finished; waits for a query for a moment."""
        if isinstance(self.awaited, AwaitedInput):
            return self.awaited.is_done()
        return is_terminated(self.awaited, _POLL_SECONDS)

    def advance(self) -> None:
        """Run until the next suspension or the end. Errors of the task propagate."""
        self.done = True
        try:
            self.awaited = next(self._work)
        except StopIteration:
            return
        self.done = False

    def close(self) -> None:
        """Abandon the task; the query that it awaits is stopped."""
        self._work.close()


def run_concurrently(
    work: Iterable[T],
    *,
    start: Callable[[T], DatasetTask],
    is_ready: Callable[[T], bool],
    advance: Callable[[DatasetTask], None],
    max_parallelism: int,
    poll: Callable[[], None] = lambda: None,
) -> None:
    """Run all of `work`: in its order, each item as soon as it is ready.

    If nothing runs and no item is ready, the first one is started anyway. An exception (Ctrl-C included)
    stops the queries that are still running, and propagates.

    Args:
        work: The items.
        start: Starts an item and runs its task to the first suspension.
        is_ready: Whether an item can be started.
        advance: Resumes a task.
        max_parallelism: Maximum of tasks that await a query at the same time.
        poll: Called again and again while tasks await their queries.
    """
    waiting, running = list(work), list[DatasetTask]()
    try:
        while waiting or running:
            with_query = [task for task in running if not task.awaits_input]
            resumable = any(task.can_resume() for task in running if task.awaits_input)
            first = next((position for position, item in enumerate(waiting) if is_ready(item)), None)
            if first is None and not resumable and not with_query:
                if not waiting:
                    raise RuntimeError("tasks await each other's datasets")
                first = 0
            if first is not None and len(with_query) < max_parallelism:
                running.append(start(waiting.pop(first)))
            else:
                poll()
                for task in running:
                    if task.can_resume():
                        advance(task)
            running = [task for task in running if not task.done]
    finally:
        for task in running:
            task.close()
