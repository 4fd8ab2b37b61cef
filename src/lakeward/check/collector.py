"""What detectors hand their findings to."""

from __future__ import annotations

from typing import Protocol

from lakeward.check.model import Kind
from lakeward.check.values import Text


class Sink(Protocol):
    """Takes the uses of one file."""

    def emit(
        self, kind: Kind, name: str, line: int, column: int, detail: str | None = None, guarded: bool = False
    ) -> None:
        """Keep one use."""

    def sql(self, text: Text) -> None:
        """Look at SQL strings in the code."""
