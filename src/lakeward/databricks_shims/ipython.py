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
    """As much of a shell as such code asks for: its namespace."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.user_ns = dict(names)
        self.ns_table = {"user_global": self.user_ns, "user_local": self.user_ns}
        self.config: dict[str, Any] = {}


def answer(module: ModuleType, names: Mapping[str, Any]) -> None:
    """Let `module.get_ipython` give a Shell to the user's own files; a real shell always comes first.

    Libraries get None as before: they take a shell for the sign of a notebook.
    """
    shell = Shell(names)

    def make(before: Any) -> Any:
        def get_ipython() -> Any:
            running = before()
            if running is not None or _is_library(sys._getframe(1).f_code.co_filename):
                return running
            return shell

        return get_ipython

    PATCHES[0].install(make, owner=module)


def restore(module: ModuleType) -> None:
    """IPython's own function again."""
    PATCHES[0].remove(owner=module)


def _is_library(file: str) -> bool:
    # Code that is typed or executed from a string is the user's, too.
    return not (file.startswith("<") or is_user_file(file))
