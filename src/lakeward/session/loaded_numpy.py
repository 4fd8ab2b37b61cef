"""`have_numpy`, asked each time: whether this process has imported NumPy; see `numpy_arguments`."""

from __future__ import annotations

import sys


def __getattr__(name: str) -> bool:
    if name == "have_numpy":
        return "numpy" in sys.modules
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
