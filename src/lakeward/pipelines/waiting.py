"""Waiting for a streaming query, so that Ctrl-C gets through and it never outlives its flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["noting", "wait_for"]

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


def wait_for(query: Any, raised: Sequence[BaseException] = ()) -> None:
    """Wait until `query` has ended. What it failed with goes through.

    An exception of Python code in its batches, put into `raised` by `noting`, goes through as it was raised.
    """
    try:
        while not query.awaitTermination(_POLL_SECONDS):
            pass
    except Exception:
        if raised:
            raise raised[0] from None
        raise
    finally:
        if query.isActive:
            query.stop()
