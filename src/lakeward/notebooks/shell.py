"""`get_ipython()`, which cells of a notebook call without an import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DatabricksShell:
    """The part of IPython's shell that notebooks use: the names of the notebook, and its magics.

    Its class has the name of the platform's, which code compares to know where it runs.
    """

    def __init__(self, names: dict[str, Any], magic: Callable[[str, str], Any]) -> None:
        self.user_ns = names
        self.ns_table = {"user_global": names, "user_local": names}
        self.config: dict[str, Any] = {}
        self._magic = magic

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """Run a line magic, as `%name line` does."""
        return self._magic(magic_name, line)

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """Run a cell magic, as `%%name line` over the cell does."""
        return self._magic(magic_name, f"{line}\n{cell}")

    def magic(self, arg_s: str) -> Any:
        """Run a line magic, written with its name."""
        name, _, line = arg_s.lstrip("%").partition(" ")
        return self._magic(name, line)

    def system(self, cmd: str) -> Any:
        """Run a shell command, as `!cmd` does; needs `--allow-sh`."""
        return self._magic("sh", cmd)
