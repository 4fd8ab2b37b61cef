"""Work that waits for streaming queries, so that other work can go on meanwhile in the same thread.

Such work is a generator: it yields a query that runs, and is gone on with when that has ended. Whoever has
nothing else to do drives it with `to_the_end`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

__all__ = ["Waiting", "ended", "noting", "to_the_end", "waited"]

T = TypeVar("T")
Waiting = Generator[Any, None, T]

_POLL_SECONDS = 0.5


def noting(take: Callable[[Any, int], object], raised: list[BaseException]) -> Callable[[Any, int], None]:
    """`take` for `foreachBatch`, with what it raises kept in `raised`: Spark gives only its text back."""

    def batch(frame: Any, number: int) -> None:
        try:
            take(frame, number)
        except BaseException as error:
            raised.append(error)
            raise

    return batch


def waited(query: Any, raised: Sequence[BaseException] = ()) -> Waiting[None]:
    """Wait until `query` has ended; it never outlives the work. What it failed with goes through.

    An exception of Python code in its batches, put into `raised` by `noting`, goes through as it was raised.
    """
    try:
        while query.isActive:
            yield query
        query.awaitTermination()
    except Exception:
        if raised:
            raise raised[0] from None
        raise
    finally:
        if query.isActive:
            query.stop()


def ended(query: Any, seconds: float = _POLL_SECONDS) -> bool:
    """Whether `query` has ended, or does within `seconds`; in short waits, so that Ctrl-C gets through."""
    try:
        return bool(query.awaitTermination(seconds))
    except Exception:  # noqa: BLE001  # the work that waits for it raises it again
        return True


def to_the_end(work: Waiting[T]) -> T:
    """Drive work that may wait, and give what it returns. What it raises goes through."""
    try:
        while True:
            ended(next(work))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # the generator's own type says what it is
    finally:
        work.close()
