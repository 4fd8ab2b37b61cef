"""What a streaming query may do, by operation, output mode and trigger. A test carries out every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["MODES", "OPERATIONS", "RUNS", "TRIGGERS", "Operation", "Trigger"]

Mode = Literal["append", "update", "complete"]
MODES: tuple[Mode, ...] = ("append", "update", "complete")
RUNS = "runs"


@dataclass(frozen=True)
class Operation:
    """`code` on a stream `s`, one with a watermark `w`, and a table `t`; cells are RUNS or a condition."""

    name: str
    code: str
    append: str = RUNS
    update: str = RUNS
    complete: str = RUNS


@dataclass(frozen=True)
class Trigger:
    """The arguments of `.trigger`, and what becomes of a stream into a Delta table, by mode."""

    name: str
    append: str = RUNS
    update: str = RUNS
    complete: str = RUNS


OPERATIONS: tuple[Operation, ...] = ()

TRIGGERS: tuple[Trigger, ...] = ()
