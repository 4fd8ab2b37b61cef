"""Timing of two sides in turn, so that what slows the machine for a while slows both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.registry import Sides

__all__ = ["Measured", "measure"]


@dataclass(frozen=True)
class Measured:
    """Seconds of each round of both sides."""

    ours: tuple[float, ...]
    peer: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median of ours over median of the peer's."""
        return median(self.ours) / median(self.peer)


def measure(
    sides: Sides, *, rounds: int, warmups: int = 1, clock: Callable[[], float] = time.perf_counter
) -> Measured:
    """`rounds` rounds of both sides after `warmups` that do not count; who goes first changes by turns."""
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    calls: dict[str, Callable[[], Any]] = {"ours": sides.ours, "peer": sides.peer}
    for turn in range(-warmups, rounds):
        for side in ("ours", "peer") if turn % 2 == 0 else ("peer", "ours"):
            sides.prepare()
            start = clock()
            result = calls[side]()
            seconds = clock() - start
            sides.check(result)
            if turn >= 0:
                times[side].append(seconds)
    return Measured(tuple(times["ours"]), tuple(times["peer"]))
