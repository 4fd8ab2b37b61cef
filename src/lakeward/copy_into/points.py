"""The moments between which a crash must not matter, by name; tests stop the process in them."""

from __future__ import annotations

from typing import Literal

__all__ = ["Point", "reached"]

Point = Literal["rows written", "history written", "committed"]


def reached(point: Point) -> None:
    """Called when a load has come so far; does nothing."""
