"""How many columns of a DataFrame of pandas are printed in notebooks.

pandas decides it at its import: 20 in a kernel of IPython, as on Databricks, and as many as 80 characters
hold in other processes. Without this, `print(pdf)` leaves out the columns in the middle.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_OPTION = "display.max_columns"
_OF_TERMINALS, _OF_KERNELS = 0, 20

_lock = threading.Lock()
_notebooks = 0


@contextmanager
def print_columns() -> Iterator[None]:
    """Let pandas print as in a notebook within the block, which notebooks that run others enter again."""
    global _notebooks  # noqa: PLW0603  # the process's, as the options of pandas are
    with _lock:
        _notebooks += 1
    widen(sys.modules.get("pandas"))
    try:
        yield
    finally:
        with _lock:
            _notebooks -= 1
        if not _notebooks:
            narrow(sys.modules.get("pandas"))


def widen(pandas: ModuleType | None) -> None:
    """Set the number of columns for a notebook that runs, unless the user has set one."""
    if _notebooks:
        _replace(pandas, _OF_TERMINALS, _OF_KERNELS)


def narrow(pandas: ModuleType | None) -> None:
    """Restore the number of columns of processes without a notebook."""
    _replace(pandas, _OF_KERNELS, _OF_TERMINALS)


def _replace(pandas: ModuleType | None, before: int, after: int) -> None:
    # A user's file may have the name, and another thread may be importing the package.
    get = getattr(pandas, "get_option", None)
    if pandas is not None and get is not None and get(_OPTION) == before:
        pandas.set_option(_OPTION, after)
