"""Tracebacks that end at the user's own line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

__all__ = ["hide_ours"]

_NAMES = ("lakeward", "pyspark", "py4j", "delta")


def hide_ours(found: pytest.ExceptionInfo[BaseException], root: Path) -> None:
    """Have pytest leave out lakeward's, PySpark's, Delta's and py4j's frames; `--full-trace` shows them.

    A package below `root`, the folder of the tests, is the user's own whatever its name.
    """
    for entry in found.traceback:
        module = entry.frame.f_globals
        name = str(module.get("__name__", "")).split(".")[0]
        if name in _NAMES and not _is_own(Path(str(entry.path)), root):
            # pytest looks for this name in a frame's module as well.
            module["__tracebackhide__"] = True


def _is_own(file: Path, root: Path) -> bool:
    return (
        file.is_relative_to(root)
        and not file.is_relative_to(sys.prefix)
        and "site-packages" not in file.parts
    )
