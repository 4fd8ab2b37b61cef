"""`IPython.get_ipython().user_ns["dbutils"]` where no IPython shell runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from lakeward.patching import PatchSpec
from lakeward.user_code import is_user_file

PATCHES = (
    PatchSpec("IPython", "get_ipython", "shims", "user code gets dbutils and spark from IPython's shell"),
)


class Shell:
    """The part of IPython's shell that such code uses: its namespace."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.user_ns = dict(names)
        self.ns_table = {"user_global": self.user_ns, "user_local": self.user_ns}
        self.config: dict[str, Any] = {}


def answer(module: ModuleType, names: Mapping[str, Any]) -> None:
    """Let `module.get_ipython` return a Shell to the user's own files; a real shell takes precedence.

    Libraries get None: they treat a shell as the sign of a notebook.
    """
    shell = Shell(names)

    def make(before: Any) -> Any:
        def get_ipython() -> Any:
            # IPython 9.18 makes the function on first use, in the module's __getattr__.
            running = (before or module.__getattr__("get_ipython"))()
            if running is not None or _is_library(sys._getframe(1).f_code.co_filename):
                return running
            return shell

        return get_ipython

    PATCHES[0].install(make, owner=module)


def restore(module: ModuleType) -> None:
    """Restore IPython's own function."""
    PATCHES[0].remove(owner=module)


def _is_library(file: str) -> bool:
    # Code typed at a prompt or executed from a string is user code too.
    return not (file.startswith("<") or is_user_file(file))
