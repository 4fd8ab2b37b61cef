"""A result as one line, or as an object."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.measure import Measured
from benchmarks.registry import Case

__all__ = ["as_json", "line"]


def line(case: Case, measured: Measured, figures: Mapping[str, float] | None = None) -> str:
    """`<area>.<case> seconds=… peer_seconds=… rounds=… [figure=…] [goal=… goal_met=…] ratio=<ours/peer>`."""
    fields = [
        f"seconds={number(median(measured.ours))}",
        f"peer_seconds={number(median(measured.peer))}",
        f"rounds={len(measured.ours)}",
    ]
    fields += [f"{name}={number(value)}" for name, value in (figures or {}).items()]
    if case.goal is not None:
        fields += [f"goal={case.goal:g}", f"goal_met={'yes' if measured.ratio <= case.goal else 'no'}"]
    return " ".join([case.name, *fields, f"ratio={measured.ratio:.3f}"])


def as_json(case: Case, measured: Measured, figures: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The same with the seconds of every round."""
    shown = {"figures": dict(figures)} if figures else {}
    return {
        "case": case.name,
        "seconds": median(measured.ours),
        "peer_seconds": median(measured.peer),
        "ratio": measured.ratio,
        "goal": case.goal,
        "rounds": {"ours": list(measured.ours), "peer": list(measured.peer)},
        **shown,
    }


def number(seconds: float) -> str:
    """Three significant digits, never in powers of ten."""
    digits = 3
    while seconds and seconds < 10 ** (2 - digits) and digits < 9:
        digits += 1
    return f"{seconds:.{digits}f}"
