"""Waiting for a streaming query, so that Ctrl-C gets through and it never outlives its flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["wait_for"]

_POLL_SECONDS = 0.5


def wait_for(query: Any, raised: Sequence[BaseException] = ()) -> None:
    """Wait until `query` has ended. What it failed with goes through.

    An exception of Python code in its batches, noted in `raised`, goes through as it was raised.
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
