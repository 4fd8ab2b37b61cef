"""`IPython.get_ipython().user_ns["dbutils"]` where no IPython shell runs."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from lakeward.session import patches

__all__ = ["Shell", "answer", "restore"]

_WHY = "user code asks IPython's shell for dbutils and spark"
_LIBRARIES = ("site-packages", "dist-packages")


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
    real = patches.original(module, "get_ipython")
    shell = Shell(names)

    def get_ipython() -> Any:
        running = real()
        if running is not None or _is_library(sys._getframe(1).f_code.co_filename):
            return running
        return shell

    patches.replace(module, "get_ipython", get_ipython, why=_WHY)


def restore(module: ModuleType) -> None:
    """IPython's own function again."""
    patches.undo(module, "get_ipython")


def _is_library(file: str) -> bool:
    return any(part in file for part in _LIBRARIES) or file.startswith(sysconfig.get_path("stdlib"))
